// Token counting against its peers, in one run on one machine; prints tables in Markdown. Speeds are MB per CPU second.
//   node bench/tokens.mjs [--quick] [--only peers,opening,growth,folder,workspace,size] [--vocabularies qwen2_5,…]
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildProduct } from "../scripts/build.mjs";
import { fixed, loadSupport, table } from "./support.mjs";
import { folder } from "./tokens/folder.mjs";
import { growth } from "./tokens/growth.mjs";
import { kernelSize } from "./tokens/kernelSize.mjs";
import { opening } from "./tokens/opening.mjs";
import { comparePeers, installPeers, peersHead } from "./tokens/peers.mjs";
import { workspace } from "./tokens/workspace.mjs";

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, only: { type: "string" }, vocabularies: { type: "string" } },
});
const quick = values.quick === true;
const only = values.only?.split(",");
const wanted = (section) => only === undefined || only.includes(section);

const support = await loadSupport();
installPeers();
const dist = "out/bench/dist";
await buildProduct({ production: true, outdir: dist });

const work = mkdtempSync(path.join(os.tmpdir(), "gauge-bench-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));
const files = support.corpusFiles(quick ? 10e6 : 56e6);
const corpus = {
  files,
  list: path.join(work, "files.txt"),
  bytes: files.reduce((sum, file) => sum + statSync(file).size, 0),
};
writeFileSync(corpus.list, files.join("\n"));
const load = os.loadavg()[0];
console.log(
  `corpus: ${files.length} files, ${fixed(corpus.bytes / 1e6)} MB; node ${process.version}, ${os.cpus().length} cores, load ${fixed(load)}\n`,
);

const setup = { support, corpus, work, quick, dist };
if (wanted("folder")) await folder(setup);
if (wanted("opening")) await opening(setup);
if (wanted("peers")) {
  const all = quick
    ? ["qwen2_5", "gemma3"]
    : ["qwen2_5", "llama3", "deepseek_v3", "gptoss", "mistral_nemo", "gemma3"];
  const rows = [];
  for (const name of values.vocabularies?.split(",") ?? all) rows.push(await comparePeers(setup, name));
  table("All vocabularies", [peersHead, ...rows]);
}
if (wanted("growth")) await growth(setup);
if (wanted("workspace")) await workspace(setup);
if (wanted("size")) await kernelSize();
process.exit(0);
