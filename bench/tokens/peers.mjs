import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fixed, table, times } from "../support.mjs";
import { measure } from "./measure.mjs";

/** The peers are installed once into bench/peers (900 MB, nothing of it ships). */
export function installPeers() {
  if (existsSync("bench/peers/node_modules")) return;
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: "bench/peers",
    stdio: "inherit",
  });
}

/** Speeds of one vocabulary's tokenizers, MB per CPU second; the ratios of its row in the table of all. */
export async function comparePeers({ support, corpus, quick }, name) {
  const small = quick ? 1e6 : 5e6;
  const model = await support.vocabularyModel(name);
  const engine = async (which, vocabulary, limit) => {
    const args = ["bench/tokens/engine.mjs", which, vocabulary, corpus.list, String(limit)];
    const { text } = await measure(process.execPath, args);
    return JSON.parse(text.trim().split("\n").at(-1));
  };
  const ours = await engine("ours", model, 1e12);
  const part = await engine("ours", model, small);
  const reference = await llamaTokenize(support, corpus, model, small);
  const speeds = ({ bytes, load, cold, warm, rss }) => [
    fixed(bytes / 1e6),
    fixed(load, 2),
    fixed(cold, 2),
    warm === undefined ? "" : fixed(warm, 2),
    fixed(rss, 0),
  ];
  const against = (their) => [times(ours.cold, their.cold), times(ours.warm, their.warm ?? their.cold)];
  const rows = [
    [name, "MB", "load s", "cold", "warm", "MiB", "ours cold is", "ours warm is"],
    ["ours, whole corpus", ...speeds(ours), "", ""],
    ["ours, part", ...speeds(part), "", ""],
    ["llama-tokenize", ...speeds(reference), ...against(reference)],
  ];
  const peers = [
    ["node-llama-cpp", model, small],
    ["@huggingface/tokenizers", path.dirname(await support.tokenizerJson(name)), small / 2],
    ...(name === "qwen2_5" ? ["gpt-tokenizer", "tiktoken"].map((peer) => [peer, "o200k", small]) : []),
  ];
  const results = new Map();
  for (const [peer, vocabulary, limit] of peers) {
    try {
      const result = await engine(peer, vocabulary, limit);
      results.set(peer, result);
      rows.push([peer, ...speeds(result), ...against(result)]);
    } catch (error) {
      rows.push([peer, "", "", "failed", "", "", "", String(error.message).split("\n").at(-1).slice(0, 40)]);
    }
  }
  table(`${name}: MB per CPU second`, rows);
  const ratio = (mine, their) => (their === undefined ? "" : times(mine, their));
  const node = results.get("node-llama-cpp");
  return [
    name,
    fixed(ours.cold),
    fixed(ours.warm),
    ratio(ours.cold, reference.cold),
    ratio(ours.warm, reference.cold),
    ratio(ours.cold, node?.cold),
    ratio(ours.warm, node?.warm),
    ratio(ours.cold, results.get("@huggingface/tokenizers")?.cold),
  ];
}

export const peersHead = [
  "vocabulary",
  "cold MB/s",
  "warm MB/s",
  "x llama-tokenize, cold",
  "warm",
  "x node-llama-cpp, cold",
  "warm",
  "x @huggingface/tokenizers, cold",
];

/** llama.cpp's own program: its CPU time for a text less that for an empty one. */
async function llamaTokenize(support, { files, bytes: all }, model, bytes) {
  const program = await support.llamaProgram("llama-tokenize");
  const args = ["-m", model, "--stdin", "--no-escape", "--ids", "--log-disable"];
  const step = Math.max(1, Math.floor(all / bytes));
  const input = Buffer.concat(files.filter((_, i) => i % step === 0).map((file) => readFileSync(file)));
  const empty = await measure(program, args, { input: Buffer.from("a") });
  const full = await measure(program, args, { input });
  const cold = input.length / 1e6 / (full.cpu - empty.cpu);
  return { bytes: input.length, load: empty.cpu, cold, rss: full.peak };
}
