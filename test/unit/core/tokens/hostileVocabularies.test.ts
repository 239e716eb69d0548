import { describe, expect, it } from "vitest";
import type { PackedStrings, TokenizerSpec } from "../../../../src/core/model/tokenizerSpec";
import { createTokenizerFrom } from "../../../support/kernelOf";
import { milliseconds } from "../../../support/growth";
import { slowness } from "../../../support/slowness";

function packed(texts: readonly string[]): PackedStrings {
  const parts = texts.map((text) => Buffer.from(text));
  const ends = Uint32Array.from(parts, (_, at) =>
    parts.slice(0, at + 1).reduce((sum, part) => sum + part.length, 0),
  );
  const starts = Uint32Array.from(parts, (part, at) => (ends[at] ?? 0) - part.length);
  return { bytes: new Uint8Array(Buffer.concat(parts)), starts, ends };
}

type Token = readonly [text: string, type?: number];

const spec = (model: string, tokens: readonly Token[], more: Partial<TokenizerSpec> = {}): TokenizerSpec => ({
  architecture: "llama",
  name: "",
  model,
  ids: { unknown: 0, bos: 0, eos: 0, separator: 0 },
  tokens: packed(tokens.map(([text]) => text)),
  tokenTypes: Int32Array.from(tokens, ([, type]) => type ?? 1),
  scores: Float32Array.from(tokens, (_, at) => -at),
  ...more,
});

const bytes = Array.from({ length: 256 }, (_, byte): Token => [
  `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
  6,
]);
const unknown: Token = ["<unk>", 2];
const long = "a".repeat(20_000);

/** A character map that makes every `a` a hundred thousand `b`. */
function bloatingMap(): Uint8Array {
  const nodes = new Uint32Array(512);
  const base = 256;
  nodes[0] = base << 10;
  // the node of `a` holds a value, which stands at its own base
  nodes[base ^ 0x61] = 0x61 | (1 << 8) | (1 << 10);
  nodes[base ^ 0x61 ^ 1] = 0x80000000;
  const text = Buffer.from(`${"b".repeat(100_000)}\0`);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(nodes.byteLength);
  return new Uint8Array(Buffer.concat([size, Buffer.from(nodes.buffer), text]));
}

describe("a vocabulary made to take for ever", () => {
  it.each<[string, TokenizerSpec]>([
    ["WordPiece", spec("bert", [["[UNK]"], ["▁a"], ["a"], [`${long}b`]])],
    ["RWKV", spec("rwkv", [["<s>"], ["a"], [`${long}b`]])],
    ["Unigram", spec("t5", [unknown, ["a"], [`${long}b`]])],
    ["Unigram's character map", spec("t5", [unknown, ["b"]], { precompiledCharsmap: bloatingMap() })],
    ["special tokens", spec("llama", [unknown, ...bytes, ["a"], [`${long}b`, 4]])],
  ])("is given up: %s", (_, vocabulary) => {
    const kernel = createTokenizerFrom(vocabulary);
    const text = "a".repeat(100_000);
    const spent = milliseconds(() => {
      expect(() => kernel.count(text, { parseSpecial: true })).toThrow("takes too long");
      expect(() => kernel.encode(text, { parseSpecial: true })).toThrow("takes too long");
    });
    expect(spent).toBeLessThan(2000 * slowness());
    expect(kernel.count("a", { parseSpecial: true })).toBeGreaterThan(0);
  });
});
