import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { cacheFolder } from "../cacheFolder";
import { SeededRandom } from "../seededRandom";
import { vocabularyMetadata, type VocabularySpec } from "../vocabularies/vocabularySpec";
import { f32, str, u32 } from "./ggufValue";
import { recallVocabulary, special, tokenOf } from "./recallVocabulary";
import type { TensorSpec } from "./tensor";
import { writeGguf, type GgufFile } from "./writeGguf";

/**
 * A llama whose weights are constructed, not trained, to recall registry entries: two layers gather the twelve tokens
 * before each position, the third is an induction head. Inside a value it looks among the notes for the same key and
 * copies what followed there; elsewhere it copies the skeleton of the question. A value further away than `window`
 * tokens is not found, and the blank stays.
 */
export interface RecallOptions {
  /** Tokens over which the model finds a value. */
  readonly window: number;
  readonly contextLength?: number;
  /** It does not look at a key's digits, so that a twin is as good as the entry itself; the nearer one wins. */
  readonly confusesTwins?: boolean;
}

/** Raised when other bytes are written for the same options. */
const recallVersion = 1;

/** Path of such a model in the cache; written on first use. Do not change the file. */
export async function forgedRecallModel(options: RecallOptions): Promise<string> {
  const key = JSON.stringify([recallVersion, options]);
  const hash = createHash("sha256").update(key).digest("hex").slice(0, 12);
  const file = cacheFolder("forged", `recall-${hash}.gguf`);
  if (!existsSync(file)) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeGguf(file, recallModel(options));
  }
  return file;
}

const heads = 4;
const keySize = 224;
/** llama.cpp wants it as long as a key in this architecture. */
const valueSize = keySize;
const embedding = 320;
const feedForward = 32;
const rotatedPairs = 16;
/** Pair that turns slowly: what makes far keys weaker. */
const slowPair = rotatedPairs;
const slots = 12;
const codeSize = 16;
const outSize = 40;

/** Dimensions of the residual stream. */
const at = {
  constant: 0,
  bos: 1,
  user: 2,
  marker: 3,
  flag: 4,
  /** Twelve slots, each a token's code and whether it is the colon of an entry. */
  slot: (j: number): number => 8 + j * (codeSize + 1),
  colon: (j: number): number => 8 + j * (codeSize + 1) + codeSize,
  own: 8 + slots * (codeSize + 1),
  out: 8 + slots * (codeSize + 1) + outSize,
} as const;

/** Dimensions of a key or query behind the rotated ones. */
const inKey = {
  first: 2 * (rotatedPairs + 1),
  slot: (j: number): number => 2 * (rotatedPairs + 1) + (j - 1) * codeSize,
  flag: keySize - 4,
  bos: keySize - 3,
  user: keySize - 2,
  marker: keySize - 1,
} as const;

/** Large against everything else, so that the norm is nearly the same for every token. */
const constant = 24;
const scale = Math.sqrt(keySize);

/** Size of the residual stream as it enters each layer: the norm divides by it, the weights multiply again. */
const rms = [578, 582, 590].map((square) => Math.sqrt(square / embedding));

export function recallModel({
  window,
  contextLength = 32_768,
  confusesTwins = false,
}: RecallOptions): GgufFile {
  const vocabulary = recallVocabulary();
  const codes = codesOf(vocabulary);
  return {
    metadata: new Map([
      ["general.architecture", str("llama")],
      ["general.name", str("Constructed recall")],
      ["general.file_type", u32(0)],
      ["llama.context_length", u32(contextLength)],
      ["llama.embedding_length", u32(embedding)],
      ["llama.block_count", u32(3)],
      ["llama.feed_forward_length", u32(feedForward)],
      ["llama.attention.head_count", u32(heads)],
      ["llama.attention.head_count_kv", u32(1)],
      ["llama.attention.key_length", u32(keySize)],
      ["llama.attention.value_length", u32(valueSize)],
      ["llama.attention.layer_norm_rms_epsilon", f32(1e-6)],
      ["llama.rope.freq_base", f32(ropeBase)],
      ["llama.rope.dimension_count", u32(keySize)],
      ["llama.vocab_size", u32(vocabulary.tokens.length)],
      ...vocabularyMetadata(vocabulary),
    ]),
    tensors: [
      embeddings(vocabulary, codes),
      ones("output_norm.weight", embedding),
      outputs(vocabulary, codes),
      values("rope_freqs.weight", [keySize / 2], ropeFactors(window)),
      ...[0, 1, 2].flatMap((layer) => layerOf(layer, confusesTwins)),
    ],
  };
}

/** Each has a dimension of the code for itself; the first is where an answer begins. */
const punctuation = ['{"', '":', ' "', '",'];
const beginning = codeSize - punctuation.length;

interface Codes {
  /** For matching. */
  readonly match: readonly (readonly number[])[];
  /** For writing. */
  readonly write: readonly (readonly number[])[];
}

/** Unit vectors for every token. Those of an entry's punctuation, and of a number and its reverse, never look alike. */
function codesOf(vocabulary: VocabularySpec): Codes {
  const random = new SeededRandom(5);
  const named = punctuation.map((text) => tokenOf(vocabulary, text));
  const free = beginning;
  const match = vocabulary.tokens.map((_, id) => {
    // the first two tokens are looked at when nothing is found: nothing must look like them
    if (id === special.bos || id === special.user) return new Array<number>(codeSize).fill(0);
    const own = named.indexOf(id);
    if (own >= 0) return unit(codeSize, free + own);
    return [...randomUnit(free, random), ...new Array<number>(named.length).fill(0)];
  });
  for (let a = 1; a < 10; a++) {
    for (let b = a + 1; b < 10; b++) {
      const [one, other] = [tokenOf(vocabulary, `${a}${b}`), tokenOf(vocabulary, `${b}${a}`)];
      while (dot(match[one] ?? [], match[other] ?? []) > 0) {
        match[other] = [...randomUnit(free, random), ...new Array<number>(named.length).fill(0)];
      }
    }
  }
  return { match, write: vocabulary.tokens.map(() => randomUnit(outSize, random)) };
}

function embeddings(vocabulary: VocabularySpec, codes: Codes): TensorSpec {
  const table = new Float32Array(vocabulary.tokens.length * embedding);
  const blank = tokenOf(vocabulary, "000");
  const opening = tokenOf(vocabulary, '{"');
  const colon = tokenOf(vocabulary, '":');
  const marker = tokenOf(vocabulary, " Question");
  vocabulary.tokens.forEach((_, id) => {
    const row = table.subarray(id * embedding, (id + 1) * embedding);
    row[at.constant] = constant;
    row.set(codes.match[id] ?? [], at.slot(0));
    if (id === colon) row[at.colon(0)] = 1;
    if (id === marker) row[at.marker] = 1;
    // what a head copies when it looks at this token: nothing from the first, the blank from the second
    if (id === special.bos) row[at.bos] = 1;
    else row.set(codes.write[id === special.user ? blank : id] ?? [], at.own);
    if (id === special.user) row[at.user] = 1;
    if (id === special.assistant)
      row.set(
        (codes.write[opening] ?? []).map((x) => 5 * x),
        at.out,
      );
  });
  return values("token_embd.weight", [embedding, vocabulary.tokens.length], table);
}

function outputs(vocabulary: VocabularySpec, codes: Codes): TensorSpec {
  const table = new Float32Array(vocabulary.tokens.length * embedding);
  vocabulary.tokens.forEach((_, id) => {
    if (id === special.bos || id === special.user) return;
    table.set(
      (codes.write[id] ?? []).map((x) => 10 * x),
      id * embedding + at.out,
    );
  });
  return values("output.weight", [embedding, vocabulary.tokens.length], table);
}

/** A matrix by its entries: `row` of the output takes `weight` of `column` of the input. */
class Matrix {
  readonly data: Float32Array;

  constructor(
    readonly columns: number,
    readonly rows: number,
  ) {
    this.data = new Float32Array(columns * rows);
  }

  set(row: number, column: number, weight: number): void {
    if (row >= this.rows || column >= this.columns) throw new Error(`no place ${row}, ${column}`);
    this.data[row * this.columns + column] = weight;
  }
}

function layerOf(layer: number, confusesTwins: boolean): TensorSpec[] {
  const q = new Matrix(embedding, heads * keySize);
  const k = new Matrix(embedding, keySize);
  const v = new Matrix(embedding, valueSize);
  const o = new Matrix(heads * valueSize, embedding);
  const back = rms[layer] ?? 1;
  const always = back / constant;
  // every key's rotated part is the same: only the distance counts
  for (let i = 0; i < rotatedPairs; i++) k.set(2 * i, at.constant, always);
  if (layer < 2) gatherSlots(layer, { q, k, v, o }, back);
  else copyWhatFollowed({ q, k, v, o }, back, confusesTwins ? 0 : 2);
  const blk = `blk.${layer}`;
  return [
    ones(`${blk}.attn_norm.weight`, embedding),
    tensorOf(`${blk}.attn_q.weight`, q),
    tensorOf(`${blk}.attn_k.weight`, k),
    tensorOf(`${blk}.attn_v.weight`, v),
    tensorOf(`${blk}.attn_output.weight`, o),
    ones(`${blk}.ffn_norm.weight`, embedding),
    tensorOf(`${blk}.ffn_gate.weight`, new Matrix(embedding, feedForward)),
    tensorOf(`${blk}.ffn_up.weight`, new Matrix(embedding, feedForward)),
    tensorOf(`${blk}.ffn_down.weight`, new Matrix(feedForward, embedding)),
  ];
}

interface Weights {
  readonly q: Matrix;
  readonly k: Matrix;
  readonly v: Matrix;
  readonly o: Matrix;
}

/** Layer 0: the three tokens before, and whether the question has begun. Layer 1: the eight before those. */
function gatherSlots(layer: number, { q, k, v, o }: Weights, back: number): void {
  const shifts = layer === 0 ? [1, 2, 3] : [4, 8];
  const width = layer === 0 ? 1 : 4;
  const perSlot = codeSize + 1;
  for (let i = 0; i < width * perSlot; i++) v.set(i, at.slot(0) + i, back);
  shifts.forEach((shift, head) => {
    lookBack(q, head, shift, back);
    for (let i = 0; i < width * perSlot; i++) o.set(at.slot(shift) + i, head * valueSize + i, 1);
  });
  if (layer > 0) return;
  const marks = valueSize - 1;
  v.set(marks, at.marker, back);
  k.set(inKey.marker, at.marker, back);
  k.set(inKey.bos, at.bos, back);
  const head = shifts.length;
  q.set(head * keySize + inKey.marker, at.constant, (40 * scale * back) / constant);
  q.set(head * keySize + inKey.bos, at.constant, (20 * scale * back) / constant);
  o.set(at.flag, head * valueSize + marks, 1);
}

/** A query that meets the constant keys best at this distance. */
function lookBack(q: Matrix, head: number, distance: number, back: number): void {
  const strength = (7 * scale * back) / constant;
  frequencies.forEach((frequency, i) => {
    q.set(head * keySize + 2 * i, at.constant, strength * Math.cos(frequency * distance));
    q.set(head * keySize + 2 * i + 1, at.constant, -strength * Math.sin(frequency * distance));
  });
}

const sharpness = 16;
const fading = 1.3 * sharpness;

/** Layer 2: two heads for the two halves of a value, one for everything around it. */
function copyWhatFollowed({ q, k, v, o }: Weights, back: number, digits: number): void {
  // a position is found by the tokens before it, and gives its own token
  for (let j = 1; j < slots; j++) {
    for (let i = 0; i < codeSize; i++) k.set(inKey.slot(j) + i, at.slot(j) + i, back);
  }
  k.set(inKey.flag, at.flag, back);
  k.set(inKey.bos, at.bos, back);
  k.set(inKey.user, at.user, back);
  k.set(2 * slowPair, at.constant, back / constant);
  k.set(2 * slowPair, at.bos, -back);
  k.set(2 * slowPair, at.user, -back);
  for (let i = 0; i < rotatedPairs; i++) k.set(2 * i, at.constant, 0);
  for (let i = 0; i < outSize; i++) v.set(i, at.own + i, back);
  for (let head = 0; head < 3; head++) {
    for (let i = 0; i < outSize; i++) o.set(at.out + i, head * valueSize + i, 1);
  }
  const ask = (head: number, weights: Readonly<Record<number, number>>, strength: number): void => {
    for (const [slot, weight] of Object.entries(weights)) {
      for (let i = 0; i < codeSize; i++) {
        const row = head * keySize + inKey.slot(Number(slot) + 1) + i;
        q.set(row, at.slot(Number(slot)) + i, strength * weight * scale * back);
      }
    }
  };
  const fixed = (head: number, dimension: number, score: number): void =>
    q.set(head * keySize + dimension, at.constant, (score * scale * back) / constant);
  const silent = 400;
  // in the value: the colon stands one or two tokens back
  for (const [head, colon] of [
    [0, 1],
    [1, 2],
  ] as const) {
    ask(head, { [colon]: 1, [colon + 1]: digits, [colon + 3]: 1, [colon + 4]: 1 }, sharpness);
    fixed(head, inKey.flag, -300);
    // what a whole match has at the edge of the window; a twin next to the question has less
    fixed(head, inKey.user, (3 + digits) * sharpness);
    fixed(head, 2 * slowPair, fading);
    fixed(head, inKey.bos, silent);
    q.set(head * keySize + inKey.bos, at.colon(colon), -silent * scale * back);
  }
  ask(2, { 0: 1.5, ...Object.fromEntries(Array.from({ length: 10 }, (_, i) => [i + 1, 1])) }, 8);
  fixed(2, inKey.flag, 300);
  // the answer's first entry has nothing before it in common with the skeleton's but where it begins
  for (let j = 0; j <= 10; j++) {
    const row = 2 * keySize + inKey.slot(j + 1) + beginning;
    q.set(row, at.slot(j) + beginning, 12 * 8 * scale * back);
  }
  for (const colon of [1, 2]) q.set(2 * keySize + inKey.bos, at.colon(colon), 2 * silent * scale * back);
}

const ropeBase = 10_000;

/** Turns per token of the rotated pairs, chosen so that no two distances up to a long context look alike. */
const frequencies: readonly number[] = (() => {
  const random = new SeededRandom(11);
  return Array.from(
    { length: rotatedPairs },
    (_, i) => 0.35 + (2.6 * (i + random.below(1000) / 1000)) / rotatedPairs,
  );
})();

/** llama.cpp divides the angle of each pair by its factor: the pairs that must not turn get a huge one. */
function ropeFactors(window: number): Float32Array {
  const wanted = [...frequencies, Math.PI / 2 / window];
  return Float32Array.from({ length: keySize / 2 }, (_, i) => {
    const usual = ropeBase ** ((-2 * i) / keySize);
    const frequency = wanted[i];
    return frequency === undefined ? 1e30 : usual / frequency;
  });
}

const values = (name: string, shape: readonly number[], data: Float32Array): TensorSpec => ({
  name,
  shape,
  type: "f32",
  fill: { values: data },
});

const tensorOf = (name: string, { columns, rows, data }: Matrix): TensorSpec =>
  values(name, [columns, rows], data);

const ones = (name: string, width: number): TensorSpec => ({
  name,
  shape: [width],
  type: "f32",
  fill: { constant: 1 },
});

const unit = (size: number, index: number): number[] =>
  Array.from({ length: size }, (_, i) => (i === index ? 1 : 0));

function randomUnit(size: number, random: SeededRandom): number[] {
  const raw = Array.from({ length: size }, () => {
    let sum = 0;
    for (let i = 0; i < 12; i++) sum += random.below(1_000_000) / 1_000_000;
    return sum - 6;
  });
  const length = Math.sqrt(dot(raw, raw));
  return raw.map((x) => x / length);
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
