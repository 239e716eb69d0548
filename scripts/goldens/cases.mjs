// What `scripts/goldens.mjs` runs: command lines by name, in a folder with copies of the fixtures.

const GiB = 2 ** 30;
const gpu = ["--device", `CUDA0=${23 * GiB}`, "--device", `Host=${60 * GiB}`];
const twoGpus = [
  "--device",
  `CUDA0=${15 * GiB}`,
  "--device",
  `CUDA1=${11 * GiB}`,
  "--device",
  `Host=${60 * GiB}`,
];
const host = ["--device", `Host=${30 * GiB}`];

/** Files written before the cases run, besides the copies of test/fixtures and the models. */
export const files = {
  "curve.json": JSON.stringify({
    key: { model: "m", build: "b11669", flags: "-ctk f16 -ctv f16", backend: "CUDA", hardware: "one GPU" },
    points: [
      { depth: 0, tokens: 2048, seconds: 1.2 },
      { depth: 4096, tokens: 2048, seconds: 1.7 },
      { depth: 16_384, tokens: 2048, seconds: 3.1 },
    ],
    generation: [
      { depth: 0, tokensPerSecond: 42 },
      { depth: 16_384, tokensPerSecond: 31 },
    ],
  }),
  "curveOfOnePoint.json": JSON.stringify({
    key: { model: "m", build: "b", flags: "" },
    points: [{ depth: 0, tokens: 512, seconds: 1 }],
    generation: [],
    overheadSeconds: 0.2,
  }),
  "notJson.json": "{",
  "noCurve.json": '{"points":[]}',
  "text.txt": "tide = 4.2\n\tquay 日本 café 🦙 <|end|> [1, 22, 333] the hello world\r\n",
  "good.ini": "[harbour]\nm = models/dense.gguf\nc = 8192\nngl = 99\n",
  "bad.ini":
    "version = 1\n[*]\nctx-sise = 4096\n[a]\nmodel = /m/none.gguf\nc = many\nngl = 5\nngl = 6\nfoo = 1\n[b]\nhf = x\nmmap = maybe\n[b]\n",
  "models.ini":
    "[tooLong]\nm = models/dense.gguf\nc = 65536\n[quantised]\nm = models/dense.gguf\nctv = q4_0\nfa = off\n[missing]\nm = models/none.gguf\n",
  "syntax.ini": "\ufeff[a]\r\nm = x.gguf\r\nnothing here\r\n[unended\r\n",
  "empty.txt": "",
  "zeros.bin": "\0\0\0\0",
  "blob.txt": `${"A".repeat(40_000)}\n`,
};

const json = (command, ...args) => [command, "--json", ...args];
const model = (name) => `models/${name}`;

const counts = {
  "count a folder, assumed": json("count", "workspace"),
  "count a folder, text": ["count", "workspace"],
  "count a file and a folder": json("count", "workspace/README.md", "workspace/src"),
  "count with excludes": json("count", "workspace", "--exclude", "**/*.ts", "--exclude", "docs/**"),
  "count without ignore files": json("count", "workspace", "--no-ignore"),
  "count small files only": json("count", "workspace", "--max-file-bytes", "500"),
  "count by a model": json("count", "workspace", "--model", model("served.gguf")),
  "count by a model, text": ["count", "workspace", "--model", model("served.gguf")],
  "count by a model without cache": json("count", "workspace", "--model", model("served.gguf"), "--no-cache"),
  "count by pieces": json("count", "workspace/docs", "--model", model("sentencePiece.gguf")),
  "count odd files": json("count", "empty.txt", "zeros.bin", "blob.txt", "text.txt"),
  "count a long run by pairs": json("count", "blob.txt", "--model", model("bytePairs.gguf")),
  "count a missing path": json("count", "nowhere"),
  "count with a missing model": json("count", "workspace", "--model", "nowhere.gguf"),
  "count without a vocabulary": json("count", "workspace", "--model", model("llama-3.1-8b-q4_k_m.gguf")),
  "count with an unknown option": json("count", "workspace", "--nonsense"),
  "count nothing": json("count"),
  "count by a dead server": json("count", "workspace", "--server", "http://127.0.0.1:1"),
  "count by no address": json("count", "workspace", "--server", "not an address"),
};

const tokenized = Object.fromEntries(
  ["served", "bytePairs", "sentencePiece", "wordPiece", "unigram", "rwkv"].flatMap((name) => [
    [`tokenize with ${name}`, json("tokenize", "text.txt", "--ids", "--model", model(`${name}.gguf`))],
    [
      `tokenize with ${name}, special`,
      json(
        "tokenize",
        "text.txt",
        ...["--ids", "--add-special", "--parse-special", "--model", model(`${name}.gguf`)],
      ),
    ],
  ]),
);

const tokenize = {
  ...tokenized,
  "tokenize, text": ["tokenize", "text.txt", "--ids", "--model", model("served.gguf")],
  "tokenize standard input": json("tokenize", "--model", model("served.gguf")),
  "tokenize a missing file": json("tokenize", "nowhere.txt", "--model", model("served.gguf")),
  "tokenize without a model": json("tokenize", "text.txt"),
};

const largest = "qwen3.6-35b-a3b-mtp-q4_k_m.gguf";
const models = {
  "model, text": ["model", model("gemma-3-12b-q4_k_m.gguf")],
  "model of a recall": json("model", model("served.gguf")),
  "model of a projector": json("model", model("mmproj.gguf")),
  "model of a draft": json("model", model("eagle.gguf")),
  "model missing": json("model", "nowhere.gguf"),
  "model that is none": json("model", "text.txt"),
  "model at a dead address": json("model", "http://127.0.0.1:1/m.gguf"),
};

const memory = {
  "memory, text": ["memory", ...gpu, "--", "-m", model(largest), "-c", "65536"],
  "memory by defaults": json("memory", ...gpu, "--", "-m", model(largest)),
  "memory without devices": json("memory", "--probe", "off", "--", "-m", model(largest), "-c", "8192"),
  "memory of two devices": json("memory", ...twoGpus, "--", "-m", model(largest), "-c", "32768"),
  "memory split by hand": json(
    "memory",
    ...twoGpus,
    "--",
    ...["-m", model("qwen2.5-14b-q4_k_m.gguf"), "-c", "32768", "-ts", "3,1", "-ngl", "30", "-fit", "off"],
  ),
  "memory with a margin": json(
    "memory",
    ...gpu,
    "--margin",
    "4096",
    "--",
    "-m",
    model("gpt-oss-20b-mxfp4.gguf"),
  ),
  "memory of the host": json("memory", ...host, "--", "-m", model("gemma-3-12b-q4_k_m.gguf"), "-c", "131072"),
  "memory with experts on the host": json(
    "memory",
    ...gpu,
    "--",
    ...[
      "-m",
      model("glm-4.5-air-q4_k_m.gguf"),
      "-c",
      "65536",
      "-ncmoe",
      "40",
      "-ctk",
      "q8_0",
      "-ctv",
      "q8_0",
    ],
  ),
  "memory with slots": json(
    "memory",
    ...gpu,
    "--",
    ...["-m", model("llama-3.1-8b-q4_k_m.gguf"), "-c", "65536", "-np", "4", "-kvu", "-ub", "2048"],
  ),
  "memory with MTP": json(
    "memory",
    ...gpu,
    "--",
    ...["-m", model(largest), "-c", "32768", "--spec-type", "draft-mtp"],
  ),
  "memory with a draft": json(
    "memory",
    ...gpu,
    "--",
    ...["-m", model("dense.gguf"), "-md", model("eagle.gguf"), "--spec-type", "draft-eagle3"],
  ),
  "memory with a projector": json(
    "memory",
    ...gpu,
    "--",
    "-m",
    model("dense.gguf"),
    "-mm",
    model("mmproj.gguf"),
  ),
  "memory with bad options": json(
    "memory",
    ...gpu,
    "--",
    "-m",
    model("dense.gguf"),
    "--nonsense",
    "-c",
    "many",
  ),
  "memory of no model": json("memory", ...gpu, "--", "-c", "4096"),
  "memory of a missing model": json("memory", ...gpu, "--", "-m", "nowhere.gguf"),
  "memory of a bad device": json("memory", "--device", "CUDA0", "--", "-m", model("dense.gguf")),
  "memory of a bad probe": json("memory", "--probe", "perhaps", "--", "-m", model("dense.gguf")),
};

const maxContext = {
  "max-context, text": ["max-context", ...gpu, "--table", "--", "-m", model("qwen3-30b-a3b-q4_k_m.gguf")],
  "max-context": json("max-context", ...gpu, "--", "-m", model("qwen2.5-14b-q4_k_m.gguf")),
  "max-context with the table": json("max-context", ...gpu, "--table", "--", "-m", model(largest)),
  "max-context of a window": json(
    "max-context",
    ...gpu,
    "--table",
    "--",
    "-m",
    model("gemma-2-9b-q4_k_m.gguf"),
  ),
  "max-context of two devices": json("max-context", ...twoGpus, "--", "-m", model(largest), "-ctk", "q8_0"),
  "max-context where nothing fits": json(
    "max-context",
    ...host,
    "--",
    "-m",
    model("glm-4.5-air-q4_k_m.gguf"),
  ),
  "max-context of no model": json("max-context", ...gpu),
};

const check = {
  "check, text": ["check", "workspace", ...gpu, "--curve", "curve.json", "--", "-m", model("served.gguf")],
  "check of nothing known": json("check", "workspace", ...gpu),
  "check by a model": json("check", "workspace", ...gpu, "--", "-m", model("served.gguf"), "-c", "16384"),
  "check with a curve": json(
    "check",
    ...["workspace", ...gpu, "--curve", "curve.json", "--", "-m", model("served.gguf")],
  ),
  "check raw": json("check", "workspace", "--raw", ...gpu, "--", "-m", model("served.gguf")),
  "check too long": json("check", "workspace", ...gpu, "--", "-m", model("served.gguf"), "-c", "256"),
  "check too large": json(
    "check",
    "workspace",
    ...host,
    "--",
    "-m",
    model("glm-4.5-air-q4_k_m.gguf"),
    "-c",
    "8192",
  ),
  "check with a reserve": json(
    "check",
    ...["workspace", "--answer-reserve", "8000", ...gpu, "--", "-m", model("served.gguf")],
  ),
  "check of slots": json(
    "check",
    "workspace",
    ...gpu,
    "--",
    "-m",
    model("dense.gguf"),
    "-c",
    "512",
    "-np",
    "2",
  ),
  "check of a hybrid": json(
    "check",
    ...["workspace", ...gpu, "--curve", "curve.json", "--", "-m", model("qwen3-next-80b-a3b-q4_k_m.gguf")],
  ),
  "check with a missing model": json("check", "workspace", ...gpu, "--", "-m", "nowhere.gguf"),
  "check of a missing path": json("check", "nowhere", ...gpu),
  "check with a missing curve": json("check", "workspace", "--curve", "nowhere.json"),
  "check by a dead server": json("check", "workspace", ...gpu, "--server", "http://127.0.0.1:1"),
};

const predict = {
  "predict, text": ["predict", "--curve", "curve.json", "--tokens", "12000"],
  "predict within": json("predict", "--curve", "curve.json", "--tokens", "12000"),
  "predict beyond": json("predict", "--curve", "curve.json", "--tokens", "120000", "--cached", "4000"),
  "predict from one point": json("predict", "--curve", "curveOfOnePoint.json", "--tokens", "600"),
  "predict nothing": json("predict", "--curve", "curve.json", "--tokens", "0"),
  "predict from no curve": json("predict", "--curve", "noCurve.json", "--tokens", "5"),
  "predict from no JSON": json("predict", "--curve", "notJson.json", "--tokens", "5"),
  "predict a negative number": json("predict", "--curve", "curve.json", "--tokens", "-5"),
  "predict without a curve": json("predict", "--tokens", "5"),
};

const lint = {
  "lint, text": ["lint", "bad.ini"],
  ...Object.fromEntries(
    ["good", "bad", "models", "syntax"].map((name) => [`lint ${name}`, json("lint", `${name}.ini`)]),
  ),
  "lint a missing file": json("lint", "nowhere.ini"),
};

const logs = {
  "explain-log, text": ["explain-log", "logs/llama31-70b-rpc-b6209.log"],
  ...Object.fromEntries(
    ["llama3-8b-2024", "llama31-70b-rpc-b6209", "qwen38-27b-mtp-b9849"].map((name) => [
      `explain-log ${name}`,
      json("explain-log", `logs/${name}.log`),
    ]),
  ),
  "explain-log of failures": json("explain-log", "failures.log"),
  "explain-log of nothing": json("explain-log", "empty.txt"),
  "explain-log of a missing file": json("explain-log", "nowhere.log"),
};

const ladders = {
  "compare-ladders, text": ["compare-ladders", "ladders/forgets", "ladders/window"],
  "compare-ladders": json("compare-ladders", "ladders/forgets", "ladders/window"),
  "compare-ladders the other way": json("compare-ladders", "ladders/window", "ladders/forgets"),
  "compare-ladders with itself": json("compare-ladders", "ladders/window", "ladders/window"),
  "compare-ladders of none": json("compare-ladders", "ladders/window", "nowhere"),
  "ladder without a plan": json("ladder", "--server", "http://127.0.0.1:1"),
  "ladder with a missing plan": json("ladder", "--server", "http://127.0.0.1:1", "--plan", "nowhere.yaml"),
  "probe of nothing": json("probe"),
  "probe of a missing program": json("probe", "--bench", "nowhere", "--", "-m", model("dense.gguf")),
};

const general = {
  help: ["--help"],
  version: ["--version"],
  "no command": [],
  "an unknown command": ["estimate"],
  ...Object.fromEntries(
    [
      ...["count", "tokenize", "model", "memory", "max-context", "predict"],
      ...["check", "lint", "ladder", "compare-ladders", "explain-log", "probe"],
    ].map((command) => [`help of ${command}`, [command, "--help"]]),
  ),
};

const server = (url) => ({
  "server: count": json("count", "workspace", "--server", url),
  "server: count, text": ["count", "workspace", "--server", url],
  "server: check": json("check", "workspace", ...gpu, "--server", url),
  "server: check with a curve": json(
    "check",
    "workspace/src",
    ...gpu,
    "--curve",
    "curve.json",
    "--server",
    url,
  ),
  "server: check raw": json("check", "workspace", "--raw", "--no-ignore", ...gpu, "--server", url),
  "server: check, text": ["check", "workspace", ...gpu, "--curve", "curve.json", "--server", url],
  "server: a plan of a ladder": ["ladder", "--server", url, "--print-plan"],
});

/**
 * @param {{ url: string, realSizes: readonly string[] }} there
 * @returns {Readonly<Record<string, readonly string[]>>}
 */
export function cases({ url, realSizes }) {
  return {
    ...general,
    ...counts,
    ...tokenize,
    ...models,
    ...Object.fromEntries(
      realSizes.flatMap((name) => [
        [`model ${name}`, json("model", model(name))],
        [`memory ${name}`, json("memory", ...gpu, "--", "-m", model(name), "-c", "32768")],
      ]),
    ),
    ...memory,
    ...maxContext,
    ...check,
    ...predict,
    ...lint,
    ...logs,
    ...ladders,
    ...server(url),
  };
}
