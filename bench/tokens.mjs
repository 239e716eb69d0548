// Token counting against its peers, in one run on one machine. Prints tables; speeds are MB per CPU second.
//   node bench/tokens.mjs [--quick]
// The peers are installed once into bench/peers (900 MB, nothing of it ships).
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { clearInterval, setInterval } from "node:timers";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = path.resolve(import.meta.dirname, "..");
process.chdir(root);
const quick = process.argv.includes("--quick");
const work = mkdtempSync(path.join(os.tmpdir(), "gauge-bench-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

if (!existsSync("bench/peers/node_modules")) {
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: "bench/peers",
    stdio: "inherit",
  });
}
await build({
  entryPoints: { support: "bench/tokens/support.ts" },
  outdir: "out/bench",
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  define: { "import.meta.dirname": JSON.stringify(path.join(root, "test/support")) },
  logLevel: "error",
});
execFileSync(process.execPath, ["scripts/build.mjs", "--production"]);
const support = await import(path.resolve("out/bench/support.mjs"));

const list = path.join(work, "files.txt");
const files = support.corpusFiles(quick ? 10e6 : 56e6);
writeFileSync(list, files.join("\n"));
const corpusBytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
console.log(
  `corpus: ${files.length} files, ${(corpusBytes / 1e6).toFixed(1)} MB; node ${process.version}, ${os.cpus().length} cores\n`,
);

const whole = 1e12;
const small = quick ? 1e6 : 5e6;

/** Runs a program; resolves with what it printed, seconds of wall and CPU, and its largest resident set. */
function measure(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(program, args, {
      stdio: [options.input ? "pipe" : "ignore", "pipe", "pipe"],
      env: options.env ?? process.env,
    });
    let peak = 0;
    let cpu = 0;
    const watch = setInterval(() => {
      try {
        const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
        peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
        const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
        cpu = (Number(stat[11]) + Number(stat[12])) / 100;
      } catch {
        // it has ended
      }
    }, 10);
    const out = [];
    const err = [];
    child.stdout.on("data", (data) => out.push(data));
    child.stderr.on("data", (data) => err.push(data));
    if (options.input) child.stdin.end(options.input);
    child.on("close", (code) => {
      clearInterval(watch);
      const text = Buffer.concat(out).toString();
      if (code !== 0)
        reject(
          new Error(`${program} ${args.join(" ")}: ${code}\n${Buffer.concat(err).toString().slice(-2000)}`),
        );
      else resolve({ text, wall: (performance.now() - started) / 1000, cpu, peak });
    });
  });
}

async function engine(name, vocabulary, limit) {
  const { text } = await measure(process.execPath, [
    "bench/tokens/engine.mjs",
    name,
    vocabulary,
    list,
    String(limit),
  ]);
  return JSON.parse(text.trim().split("\n").at(-1));
}

/** llama.cpp's own program: its CPU time for a text less that for an empty one. */
async function llamaTokenize(model, bytes) {
  const program = await support.llamaProgram("llama-tokenize");
  const args = ["-m", model, "--stdin", "--no-escape", "--ids", "--log-disable"];
  const step = Math.max(1, Math.floor(corpusBytes / bytes));
  const input = Buffer.concat(files.filter((_, i) => i % step === 0).map((file) => readFileSync(file)));
  const empty = await measure(program, args, { input: Buffer.from("a") });
  const full = await measure(program, args, { input });
  return {
    bytes: input.length,
    load: empty.cpu,
    speed: input.length / 1e6 / (full.cpu - empty.cpu),
    rss: full.peak,
  };
}

const table = (rows) => {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const line = (row) => `| ${row.map((cell, i) => String(cell).padEnd(widths[i])).join(" | ")} |`;
  console.log(
    [
      line(rows[0]),
      `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`,
      ...rows.slice(1).map(line),
    ].join("\n") + "\n",
  );
};
const n = (value, digits = 1) => value.toFixed(digits);
const times = (ours, theirs) => `${n(ours / theirs)}x`;

for (const name of quick
  ? ["qwen2_5", "gemma3"]
  : ["qwen2_5", "llama3", "deepseek_v3", "gptoss", "mistral_nemo", "gemma3"]) {
  const model = await support.vocabularyModel(name);
  const ours = await engine("ours", model, whole);
  const oursSmall = await engine("ours", model, small);
  const reference = await llamaTokenize(model, small);
  const rows = [
    [name, "MB", "load s", "cold", "warm", "RSS MiB", "ours cold is", "ours warm is"],
    [
      "ours, whole corpus",
      n(ours.bytes / 1e6),
      n(ours.load, 2),
      n(ours.cold),
      n(ours.warm),
      n(ours.rss, 0),
      "",
      "",
    ],
    [
      "ours, part",
      n(oursSmall.bytes / 1e6),
      n(oursSmall.load, 2),
      n(oursSmall.cold),
      n(oursSmall.warm),
      n(oursSmall.rss, 0),
      "",
      "",
    ],
    [
      "llama-tokenize",
      n(reference.bytes / 1e6),
      n(reference.load, 2),
      n(reference.speed, 2),
      "",
      n(reference.rss, 0),
      times(ours.cold, reference.speed),
      times(ours.warm, reference.speed),
    ],
  ];
  const peers = [
    ["node-llama-cpp", model, small],
    ["@huggingface/tokenizers", path.dirname(await support.tokenizerJson(name)), small / 2],
    ...(name === "qwen2_5"
      ? [
          ["gpt-tokenizer", "o200k", small],
          ["tiktoken", "o200k", small],
        ]
      : []),
  ];
  for (const [peer, vocabulary, limit] of peers) {
    try {
      const result = await engine(peer, vocabulary, limit);
      rows.push([
        peer,
        n(result.bytes / 1e6),
        n(result.load, 2),
        n(result.cold, 2),
        n(result.warm, 2),
        n(result.rss, 0),
        times(ours.cold, result.cold),
        times(ours.warm, result.warm),
      ]);
    } catch (error) {
      rows.push([peer, "", "", "failed", "", "", "", String(error.message).split("\n").at(-1).slice(0, 40)]);
    }
  }
  table(rows);
}

{
  console.log("Vocabulary ready (wall seconds, on a worker thread)");
  const rows = [["vocabulary", "from the GGUF", "compiled"]];
  for (const name of ["qwen2_5", "llama3", "gptoss", "gemma3"]) {
    const model = await support.vocabularyModel(name);
    const cacheDir = path.join(work, "compiled");
    rmSync(cacheDir, { recursive: true, force: true });
    const open = async () => {
      const started = performance.now();
      const tokenizer = await support.openGgufTokenizer(model, {
        signal: new AbortController().signal,
        cacheDir,
        workerFile: path.resolve("dist/worker.js"),
      });
      await tokenizer.count(["a"], new AbortController().signal);
      const seconds = (performance.now() - started) / 1000;
      await tokenizer.close();
      return seconds;
    };
    const fresh = await open();
    rows.push([name, n(fresh, 3), n(Math.min(await open(), await open(), await open()), 3)]);
  }
  table(rows);
}

{
  console.log("Long runs of one class and growing trees (seconds)");
  const kernel = support.kernelOf(await support.vocabularyModel("qwen2_5"));
  const rows = [["input", "1x", "10x", "100x"]];
  const timed = (text) => {
    const started = performance.now();
    kernel.count(text);
    return n((performance.now() - started) / 1000, 3);
  };
  for (const character of ["a", " ", "=", "日"]) {
    rows.push([
      `${JSON.stringify(character)} x 10 000`,
      ...[1e4, 1e5, 1e6].map((length) => timed(character.repeat(length))),
    ]);
  }
  const part = files
    .slice(0, 20)
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  rows.push([
    `${n(part.length / 1e6, 2)} MB of sources`,
    ...[1, 10, 100].map((times) => timed(part.repeat(times))),
  ]);
  table(rows);
}

{
  console.log(
    "A folder, end to end: llama-gauge count against repomix --token-count-tree (wall seconds, MiB)",
  );
  const tree = path.join(work, "tree");
  let bytes = 0;
  let copied = 0;
  for (const file of files) {
    if (bytes > 24e6 || /\.map$/.test(file)) continue;
    const to = path.join(
      tree,
      path
        .relative(path.join(root, "node_modules"), file)
        .replaceAll("node_modules", "modules")
        .replaceAll("dist", "distribution"),
    );
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(file, to);
    bytes += statSync(file).size;
    copied++;
  }
  const model = await support.vocabularyModel("qwen2_5");
  const env = { ...process.env, XDG_CACHE_HOME: path.join(work, "cache"), HOME: work };
  const ours = ["dist/cli.js", "count", tree, "--model", model, "--json", "--no-ignore"];
  const first = await measure(process.execPath, ours, { env });
  const again = await measure(process.execPath, ours, { env });
  const theirs = await measure(
    process.execPath,
    [
      "bench/peers/node_modules/repomix/bin/repomix.cjs",
      tree,
      "--token-count-tree",
      "--no-security-check",
      "--no-gitignore",
      "--no-default-patterns",
      "--quiet",
      "-o",
      path.join(work, "pack.xml"),
    ],
    { env },
  );
  const result = JSON.parse(first.text);
  table([
    [`${copied} files, ${n(bytes / 1e6)} MB`, "wall", "CPU", "peak", "ratio of wall", "ratio of memory"],
    [
      `llama-gauge, first (${result.files.length} files)`,
      n(first.wall, 2),
      n(first.cpu, 2),
      n(first.peak, 0),
      "",
      "",
    ],
    ["llama-gauge, again", n(again.wall, 2), n(again.cpu, 2), n(again.peak, 0), "", ""],
    [
      "repomix",
      n(theirs.wall, 2),
      n(theirs.cpu, 2),
      n(theirs.peak, 0),
      times(theirs.wall, first.wall),
      times(theirs.peak, first.peak),
    ],
  ]);
}

{
  const { outputFiles } = await build({
    entryPoints: ["src/core/tokens/kernel/kernel.ts"],
    bundle: true,
    minify: true,
    format: "esm",
    target: "node20",
    write: false,
  });
  const code = outputFiles[0].contents;
  console.log(
    `kernel: ${n(code.length / 1024)} KiB minified, ${n(gzipSync(code, { level: 9 }).length / 1024)} KiB gzipped`,
  );
}
process.exit(0);
