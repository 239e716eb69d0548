/**
 * Walking, reading and counting large generated trees: time, memory and the longest time the thread was held, each run in a
 * process of its own.
 * `npx esbuild bench/workspace.ts --bundle --platform=node --format=esm --outfile=out/bench/workspace.mjs && node out/bench/workspace.mjs`
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { countFiles } from "../src/core/tokens/countFiles";
import { assumedTokenizer } from "../src/core/tokens/estimateTokens";
import { defaultWalkOptions } from "../src/core/tokens/files";
import { workspaceFiles } from "../src/node/workspaceFiles";

interface Row {
  readonly tree: string;
  readonly job: "walk" | "read" | "count";
  readonly files: number;
  readonly MB: number;
  readonly "wall s": number;
  readonly "CPU s": number;
  readonly "peak RSS MB": number;
  readonly "longest hold ms": number;
}

const line = 'export const someValue = readTheConfiguration("a.b.c", { depth: 12345, name: `x` });\n';

/** Trees of ten times the size each, then one gigabyte. */
const trees: readonly (readonly [name: string, files: number, bytesPerFile: number])[] = [
  ["500 small", 500, 800],
  ["5 000 small", 5_000, 800],
  ["50 000 small", 50_000, 800],
  ["1 GB", 10_000, 105_000],
];

function grow(folder: string, files: number, bytes: number): void {
  const text = line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes - 20);
  for (let at = 0; at < files; at++) {
    const parent = path.join(folder, `d${at % 50}`, `e${Math.floor(at / 50) % 40}`);
    mkdirSync(parent, { recursive: true });
    writeFileSync(path.join(parent, `f${at}.ts`), `// ${at}\n${text}\n`);
  }
  writeFileSync(path.join(folder, ".gitignore"), "node_modules/\n*.log\n/dist\n!keep.log\n**/tmp/*.ts\n");
}

async function run(job: Row["job"], folder: string): Promise<Omit<Row, "tree" | "job">> {
  const files = workspaceFiles();
  const { signal } = new AbortController();
  let peak = 0;
  let hold = 0;
  let last = performance.now();
  const ticking = setInterval(() => {
    const now = performance.now();
    hold = Math.max(hold, now - last - 5);
    peak = Math.max(peak, process.memoryUsage().rss);
    last = now;
  }, 5);
  const cpu = process.cpuUsage();
  const started = performance.now();
  let [found, bytes] = [0, 0];
  if (job === "count") {
    const parts = { files, tokenizer: assumedTokenizer(files.pause), clock: Date };
    const result = await countFiles(
      parts,
      { roots: [folder], options: defaultWalkOptions },
      () => undefined,
      signal,
    );
    found = result.files.length;
    bytes = result.files.reduce((sum, { file }) => sum + file.bytes, 0);
  } else {
    for await (const listed of files.list([folder], defaultWalkOptions, signal)) {
      if (listed.kind !== "file") continue;
      found++;
      bytes += listed.file.bytes;
      if (job === "read") await files.read(listed.file, signal);
    }
  }
  const wall = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(ticking);
  const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));
  return {
    files: found,
    MB: rounded(bytes / 1e6, 0),
    "wall s": rounded(wall),
    "CPU s": rounded((user + system) / 1e6),
    "peak RSS MB": rounded(peak / 1e6, 0),
    "longest hold ms": rounded(hold, 0),
  };
}

const [job, folder] = process.argv.slice(2);
if ((job === "walk" || job === "read" || job === "count") && folder !== undefined) {
  console.log(JSON.stringify(await run(job, folder)));
} else {
  const work = mkdtempSync(path.join(os.tmpdir(), "gauge-bench-"));
  try {
    const rows: Row[] = [];
    for (const [tree, count, bytes] of trees) {
      const at = path.join(work, String(count));
      grow(at, count, bytes);
      for (const each of ["walk", "read", "count"] as const) {
        const script = process.argv[1] ?? "";
        const out = execFileSync(process.execPath, [script, each, at], { encoding: "utf8" });
        rows.push({ tree, job: each, ...(JSON.parse(out) as Omit<Row, "tree" | "job">) });
      }
      rmSync(at, { recursive: true });
    }
    console.table(rows);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
