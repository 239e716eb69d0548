import { count, say } from "../../text";
import { UserError } from "../../userError";
import { afterDigits, anyCut, betweenWords, noCut, type LastCut } from "./cuts";
import { deepseek3Scanner } from "./deepseek3Scanner";
import { gpt2Scanner } from "./gpt2Scanner";
import { gpt4oScanner } from "./gpt4oScanner";
import { kimiScanner } from "./kimiScanner";
import { llama3Scanner, llama3Shape } from "./llama3Scanner";
import { regexFamilies } from "./regexFamilies";
import { regexSplitter, type SplitPieces } from "./regexSplitter";
import type { NextPiece } from "./scanner";

/** How a byte-level vocabulary's text is split, and what else its `tokenizer.ggml.pre` changes. */
export interface PreTokenizer {
  readonly pieces:
    | { readonly kind: "scan"; readonly next: NextPiece }
    | { readonly kind: "split"; readonly split: SplitPieces }
    /** Whole lines (`[^\n]+|[\n]+`), blanks spelled U+2581. `words` starts a word at every blank (mmBERT). */
    | { readonly kind: "lines"; readonly wordsAtBlanks: boolean; readonly newlineWords: boolean };
  /** Where a long text may be cut; lines know it by their merges. */
  readonly lastCut: LastCut;
  /** Vocabulary entries are spelled in GPT-2's byte alphabet; otherwise they are plain UTF-8. */
  readonly byteLevel: boolean;
  /** A pre-token that is itself a token is not merged. */
  readonly ignoreMerges: boolean;
  readonly addBos: boolean;
  /** The default BOS id is taken away (GLM 4). */
  readonly noBos: boolean;
  /** std::regex walks this family in llama.cpp: one stack frame per character of a run. */
  readonly recursive: boolean;
}

type Traits = Partial<Omit<PreTokenizer, "pieces">>;

const plain = {
  lastCut: anyCut(betweenWords, afterDigits),
  byteLevel: true,
  ignoreMerges: false,
  addBos: false,
  noBos: false,
};

const scan =
  (next: NextPiece, traits: Traits = {}) =>
  (): PreTokenizer => ({
    ...plain,
    recursive: false,
    ...traits,
    pieces: { kind: "scan", next },
  });

const split =
  (family: string, traits: Traits = {}) =>
  (): PreTokenizer => ({
    ...plain,
    recursive: true,
    ...traits,
    pieces: { kind: "split", split: regexSplitter(regexFamilies[family] ?? []) },
  });

const lines =
  (newlineWords: boolean, wordsAtBlanks = false) =>
  (): PreTokenizer => ({
    ...plain,
    lastCut: noCut,
    byteLevel: false,
    recursive: false,
    addBos: false,
    pieces: { kind: "lines", wordsAtBlanks, newlineWords },
  });

const llama3 = llama3Scanner(llama3Shape);
const qwen2 = llama3Scanner({ ...llama3Shape, digits: 1 });
const gpt2 = gpt2Scanner(false);
const starcoder = gpt2Scanner(true);

/** `tokenizer.ggml.pre` → what it means. Every name llama.cpp (build 11669) knows for byte-pair vocabularies. */
const families: readonly (readonly [names: string, make: () => PreTokenizer])[] = [
  ["default", split("default")],
  [
    "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
    scan(llama3, { ignoreMerges: true, addBos: true }),
  ],
  ["dbrx smaug-bpe", scan(llama3)],
  ["chatglm-bpe", scan(llama3, { noBos: true })],
  ["glm4 glm5", scan(llama3, { ignoreMerges: true, noBos: true })],
  ["minicpm5", scan(llama3Scanner({ ...llama3Shape, digitsFirst: true }), { ignoreMerges: true })],
  ["jais-2", scan(llama3Scanner({ ...llama3Shape, spacesByPowers: true }))],
  [
    "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2 bailingmoe bailingmoe2 llada-moe",
    scan(qwen2),
  ],
  ["qwen35", scan(llama3Scanner({ ...llama3Shape, digits: 1, marks: true }))],
  ["ufakzeka", scan(llama3Scanner({ ...llama3Shape, digits: 1, contractions: false }))],
  ["seed-coder", scan(llama3Scanner({ ...llama3Shape, digits: 1, symbolTail: "none" }))],
  [
    "gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert exaone4 mpt olmo jais trillion granite-docling jina-v1-en jina-v2-code roberta-bpe",
    scan(gpt2),
  ],
  ["starcoder refact command-r smollm codeshell exaone minerva-7b mellum2", scan(starcoder)],
  [
    "gpt-4o llama4 kanana2 talkie minimax-m2",
    scan(gpt4oScanner({ contractions: true, digits: 3, marks: false }), { recursive: true }),
  ],
  [
    "granite-embed-multi-97m",
    scan(gpt4oScanner({ contractions: true, digits: 3, marks: true }), {
      recursive: true,
      ignoreMerges: true,
    }),
  ],
  [
    "tekken",
    scan(gpt4oScanner({ contractions: false, digits: 1, marks: false }), {
      recursive: true,
      ignoreMerges: true,
      addBos: true,
    }),
  ],
  ["deepseek-v3 hunyuan-dense joyai-llm hy_v4", scan(deepseek3Scanner, { recursive: true })],
  ["kimi-k2", scan(kimiScanner)],
  ["deepseek-llm", split("deepseekLlm")],
  ["deepseek-coder", split("deepseekCoder")],
  ["falcon", split("falcon")],
  ["bloom poro-chat gpt3-finnish", split("bloom", { lastCut: betweenWords })],
  ["viking", split("viking", { lastCut: betweenWords })],
  ["youtu", split("youtu", { ignoreMerges: true })],
  ["tiny_aya cohere2moe", split("tinyAya", { lastCut: noCut })],
  ["superbpe", split("superbpe", { lastCut: afterDigits })],
  ["chameleon", split("chameleon", { addBos: true })],
  ["spark2_5", split("spark25")],
  ["afmoe", split("afmoe", { lastCut: noCut })],
  ["laguna", split("laguna")],
  ["exaone-moe", split("exaoneMoe", { lastCut: afterDigits })],
  ["k2-horizon", split("k2Horizon")],
  ["whitespace", split("whitespace", { byteLevel: false, lastCut: betweenWords })],
  ["gemma4 granite-embed-multi-311m", lines(true)],
  ["sarvam-moe", lines(false)],
  ["mmbert", lines(true, true)],
];

const byName = new Map(
  families.flatMap(([names, make]) => names.split(" ").map((name) => [name, make] as const)),
);

/** Names of `tokenizer.ggml.pre` that are counted exactly. */
export const preTokenizerNames: readonly string[] = [...byName.keys()];

/** An unknown name is refused, as llama.cpp refuses to load such a model. */
export function preTokenizerOf(pre: string | undefined): PreTokenizer {
  const make = byName.get(pre === undefined || pre === "" ? "default" : pre);
  if (make) return make();
  throw new UserError(
    "unsupported",
    say`The pre-tokenizer “${pre ?? ""}” of this model is not among the ${count(byName.size)} supported ones.`,
    say`Count with a running llama-server that has this model loaded.`,
  );
}
