// `tsc -b`, which in a new checkout goes on from what it knows of the last one: it compares files by their contents.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { cacheFolder } from "./cache.mjs";

const root = path.join(import.meta.dirname, "..");
const folder = path.join(root, "out/types");
const kept = path.join(cacheFolder(), "types.json");

/** Older than every source, so that none is taken for unchanged by its time. */
const longAgo = new Date("2000-01-01");

if (!existsSync(folder) && existsSync(kept)) {
  for (const [name, text] of Object.entries(JSON.parse(readFileSync(kept, "utf8")))) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    utimesSync(file, longAgo, longAgo);
  }
}
const tsc = path.join(root, "node_modules/typescript/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-b"], { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;
if (status === 0) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => statSync(path.join(folder, name)).isFile());
  const texts = files.map((name) => [name, readFileSync(path.join(folder, name), "utf8")]);
  const partial = `${kept}.${process.pid}.partial`;
  mkdirSync(path.dirname(kept), { recursive: true });
  writeFileSync(partial, JSON.stringify(Object.fromEntries(texts)));
  renameSync(partial, kept);
}
