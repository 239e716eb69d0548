import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fixed, table } from "../support.mjs";
import { measure } from "./measure.mjs";

const line = 'export const someValue = readTheConfiguration("a.b.c", { depth: 12345, name: `x` });\n';

/** Trees of ten times the size each, one gigabyte, and one line of 200 MB. */
const trees = [
  ["500 small", 500, 800],
  ["5 000 small", 5_000, 800],
  ["50 000 small", 50_000, 800],
  ["1 GB", 10_000, 105_000],
  ["one line", 1, 200_000_000],
];

/** Walking, reading and counting large trees: time, memory and how long the thread of the caller was held. */
export async function workspace({ support, work, dist, quick }) {
  const model = await support.vocabularyModel("qwen2_5");
  for (const [tree, files, bytes] of quick ? trees.slice(0, 2) : trees) {
    const rows = [["job", "files", "MB", "wall s", "CPU s", "peak MiB", "longest hold ms"]];
    const folder = path.join(work, "grown");
    grow(folder, files, bytes);
    for (const job of ["walk", "read", "assumed", "exact", "again"]) {
      const cache = path.join(work, "grown-cache");
      const run = [
        "bench/tokens/workspaceRun.mjs",
        job,
        folder,
        model,
        path.resolve(dist, "worker.js"),
        cache,
      ];
      rmSync(cache, { recursive: true, force: true });
      const { text, peak } = await measure(process.execPath, run);
      const done = JSON.parse(text);
      const figures = [fixed(done.bytes / 1e6, 0), fixed(done.wall, 2), fixed(done.cpu, 2), fixed(peak, 0)];
      rows.push([job, done.files, ...figures, fixed(done.hold, 0)]);
    }
    rmSync(folder, { recursive: true });
    table(`${tree}: each job in a process of its own`, rows);
  }
}

function grow(folder, files, bytes) {
  const text = line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes - 20);
  for (let at = 0; at < files; at++) {
    const parent = path.join(folder, `d${at % 50}`, `e${Math.floor(at / 50) % 40}`);
    mkdirSync(parent, { recursive: true });
    const own = files === 1 ? text.replaceAll("\n", " ") : `// ${at}\n${text}\n`;
    writeFileSync(path.join(parent, `f${at}.ts`), own);
  }
  writeFileSync(path.join(folder, ".gitignore"), "node_modules/\n*.log\n/dist\n!keep.log\n**/tmp/*.ts\n");
}
