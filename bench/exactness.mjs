// Token ids against the real llama.cpp: vocabulary x corpus → texts, mismatches.
//   node bench/exactness.mjs [--strings 200000] [VOCABULARY…]
import { loadSupport } from "./support.mjs";

const args = process.argv.slice(2);
const at = args.indexOf("--strings");
const strings = at < 0 ? 200_000 : Number(args.splice(at, 2)[1]);
const names =
  args.length > 0 ? args : ["qwen2_5", "llama3", "mistral_nemo", "deepseek_v3", "gptoss", "gemma3"];

const support = await loadSupport();

let wrong = 0;
console.log("| vocabulary | corpus | texts | mismatches |\n|---|---|---|---|");
for (const name of names) {
  const model = await support.forgedModel({ vocabulary: name, contextLength: 512 });
  const kernel = support.kernelOf(model);
  const { tokens } = await support.vocabulary(name);
  const separator = tokens.findLastIndex((text) => /^[a-z]{9,}$/.test(text));
  const server = await support.startLlamaServer({
    model,
    args: ["-c", "512", "-np", "1", "--no-jinja", "--chat-template", "chatml"],
    timeoutMs: 180_000,
  });
  try {
    const compare = async (corpus, texts, parseSpecial) => {
      const real = await support.idsByServer(server.url, texts, { parseSpecial, separator });
      return support.differences(kernel, texts, real, { parseSpecial });
    };
    const report = (corpus, count, differ) => {
      wrong += differ.length;
      console.log(`| ${name} | ${corpus} | ${count} | ${differ.length} |`);
      for (const difference of differ.slice(0, 3)) console.error(JSON.stringify(difference));
    };
    for (const [corpus, texts] of [["known texts", support.knownTexts], ...support.mixedCorpus()]) {
      for (const parseSpecial of [false, true]) {
        const kind = `${corpus}${parseSpecial ? ", special tokens parsed" : ""}`;
        report(kind, texts.length, await compare(corpus, texts, parseSpecial));
      }
    }
    const differ = [];
    for (let done = 0; done < strings; done += 10_000) {
      const texts = support.nastyStrings(1000 + done, Math.min(10_000, strings - done));
      differ.push(...(await compare("random", texts, (done / 10_000) % 2 === 1)));
    }
    report("random strings", strings, differ);
  } finally {
    await server.stop();
  }
}
process.exit(wrong === 0 ? 0 : 1);
