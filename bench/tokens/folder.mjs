import { cpSync, mkdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { fixed, root, table, times } from "../support.mjs";
import { measure } from "./measure.mjs";

const treeBytes = 24e6;
const rounds = 3;

/** A folder from the command line to the printed tree, against repomix on the same files. */
export async function folder({ support, corpus, work, dist }) {
  const { tree, files, bytes } = grow(corpus, work);
  const model = await support.vocabularyModel("qwen2_5");
  const cache = path.join(work, "cache");
  const env = { ...process.env, XDG_CACHE_HOME: cache, HOME: work };
  const count = [path.join(dist, "cli.js"), "count", tree, "--model", model, "--json", "--no-ignore"];
  const repomix = [
    "bench/peers/node_modules/repomix/bin/repomix.cjs",
    ...[
      tree,
      "--token-count-tree",
      "--no-security-check",
      "--no-gitignore",
      "--no-default-patterns",
      "--quiet",
    ],
    ...["-o", path.join(work, "pack.xml")],
  ];
  const best = async (args, prepare = () => undefined) => {
    const runs = [];
    for (let round = 0; round < rounds; round++) {
      prepare();
      runs.push(await measure(process.execPath, args, { env }));
    }
    return runs.sort((a, b) => a.wall - b.wall)[0];
  };
  const theirs = await best(repomix);
  const nothing = await best(count, () => rmSync(cache, { recursive: true, force: true }));
  const opened = await best(count, () =>
    rmSync(path.join(cache, "llama-gauge", "counts"), { recursive: true, force: true }),
  );
  const again = await best(count);
  const row = (name, { wall, cpu, peak }, ratios) => [
    name,
    fixed(wall, 2),
    fixed(cpu, 2),
    fixed(peak, 0),
    ...ratios,
  ];
  const against = (run) => [
    times(theirs.wall, run.wall),
    times(theirs.cpu, run.cpu),
    times(theirs.peak, run.peak),
  ];
  const counted = JSON.parse(nothing.text).files.length;
  table(`A folder end to end: ${files} files, ${fixed(bytes / 1e6)} MB (best of ${rounds})`, [
    ["", "wall s", "CPU s", "peak MiB", "x wall", "x CPU", "x memory"],
    row(`llama-gauge count, nothing kept (${counted} files)`, nothing, against(nothing)),
    row("llama-gauge count, vocabulary compiled", opened, against(opened)),
    row("llama-gauge count, again", again, against(again)),
    row("repomix --token-count-tree", theirs, ["", "", ""]),
  ]);
}

/** Copies of the corpus in folders that no tool leaves out by their names. */
function grow(corpus, work) {
  const tree = path.join(work, "tree");
  let bytes = 0;
  let files = 0;
  for (const file of corpus.files) {
    if (bytes > treeBytes || /\.map$/.test(file)) continue;
    const inside = path.relative(path.join(root, "node_modules"), file);
    const to = path.join(
      tree,
      inside.replaceAll("node_modules", "modules").replaceAll("dist", "distribution"),
    );
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(file, to);
    bytes += statSync(file).size;
    files++;
  }
  return { tree, files, bytes };
}
