import type { GgufFile } from "../forge/writeGguf";
import type { GgufArray, GgufMetadata, GgufValue } from "../forge/ggufValue";
import type { SeededRandom } from "../seededRandom";

/** Numbers at the ends of what formats can hold. */
const numbers = [
  0,
  1,
  2,
  3,
  7,
  64,
  255,
  256,
  4096,
  65_535,
  65_536,
  2 ** 20,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
];
const more = [-1, -(2 ** 31), 0.5, 1e-300, 1e308, Infinity, -Infinity, NaN, 2 ** 53, 2 ** 64];
const texts = [
  "",
  "\0",
  "\n",
  "a".repeat(200),
  "x\u202Ey",
  "😀",
  "\uD800",
  "../../x",
  "$(x)",
  "[a](command:b)",
  "__proto__",
  "constructor",
  "toString",
  "- ".repeat(3000),
  "[".repeat(3000),
  " ".repeat(3000),
];

/** Rows are made of blocks of up to 256 values; the forge writes no others. */
const sides = [0, 256, 65_536, 2 ** 20, 2 ** 31, 2 ** 40];

export const oddNumber = (random: SeededRandom): number => random.pick([...numbers, ...more]);
export const oddText = (random: SeededRandom): string => random.pick(texts);

/** So many changes, mostly few. */
export const changes = (random: SeededRandom): number => 1 + random.below(random.pick([2, 4, 16]));

/** Characters, lines and numbers taken out, put twice, moved, replaced by others of the same text or by odd ones. */
export function mutatedText(text: string, random: SeededRandom, words: readonly string[] = []): string {
  let now = text;
  for (let left = changes(random); left > 0; left--) {
    const at = random.below(now.length + 1);
    const length = random.below(random.pick([2, 20, 200]));
    const [before, part, after] = [now.slice(0, at), now.slice(at, at + length), now.slice(at + length)];
    const from = random.below(now.length + 1);
    const piece = random.pick([
      "",
      part.repeat(2),
      part.repeat(random.pick([10, 1000])).slice(0, 20_000),
      now.slice(from, from + length),
      oddText(random),
      String(oddNumber(random)),
      random.pick(words.length > 0 ? words : texts),
      String.fromCharCode(random.below(128)),
    ]);
    now = before + piece + after;
  }
  return now.length > 200_000 ? now.slice(0, 200_000) : now;
}

/** A JSON value with some of its parts of another kind, missing, or many times as many. */
export function mutatedJson(value: unknown, random: SeededRandom, left = changes(random)): unknown {
  if (left <= 0) return value;
  if (random.below(8) === 0) {
    return random.pick<unknown>([null, true, [], {}, oddNumber(random), oddText(random), [[[[1]]]], "1e400"]);
  }
  if (Array.isArray(value)) {
    const items: unknown[] = Array.from<unknown>(value);
    const at = random.below(items.length + 1);
    switch (random.below(4)) {
      case 0:
        return items.filter((_, index) => index !== at);
      case 1:
        return items.concat(items, items).slice(0, 2000);
      default:
        return items.map((item, index) =>
          index === at % items.length ? mutatedJson(item, random, left) : item,
        );
    }
  }
  if (typeof value === "object" && value !== null) {
    const entries: [string, unknown][] = Object.entries(value);
    if (entries.length === 0) return value;
    const at = random.below(entries.length);
    return Object.fromEntries(
      entries.flatMap(([key, field], index): [string, unknown][] => {
        if (index !== at) return [[key, field]];
        if (random.below(6) === 0) return [];
        return [[random.below(10) === 0 ? "__proto__" : key, mutatedJson(field, random, left)]];
      }),
    );
  }
  return typeof value === "number" ? oddNumber(random) : oddText(random);
}

function mutatedValue(value: GgufValue, random: SeededRandom): GgufValue {
  if (random.below(5) === 0) {
    return random.pick<GgufValue>([
      { type: "string", value: oddText(random) },
      { type: "f32", value: oddNumber(random) },
      { type: "bool", value: true },
      { type: "array", of: "u32", values: [0, 2 ** 32 - 1] },
      { type: "array", of: "string", values: ["", "a", "a"] },
    ]);
  }
  switch (value.type) {
    case "u32":
      return { type: "u32", value: random.pick(numbers) };
    case "i32":
      return { type: "i32", value: random.pick([-1, -(2 ** 31), 2 ** 31 - 1, 0]) };
    case "u64":
      return { type: "u64", value: random.pick([...numbers, 2 ** 53, 2 ** 63]) };
    case "f32":
      return { type: "f32", value: oddNumber(random) };
    case "bool":
      return { type: "bool", value: !value.value };
    case "string":
      return { type: "string", value: mutatedText(value.value, random).slice(0, 5000) };
    case "array":
      return mutatedArray(value, random);
  }
}

function mutatedArray(array: GgufArray, random: SeededRandom): GgufArray {
  const at = random.below(array.values.length + 1);
  const cut = random.below(3);
  const reshaped = <T>(values: readonly T[], odd: T): T[] =>
    cut === 0
      ? values.slice(0, at)
      : cut === 1
        ? [...values.slice(0, at), ...values.slice(at, at + 50), ...values.slice(at)]
        : values.map((each, index) => (index === at ? odd : each));
  switch (array.of) {
    case "string":
      return { ...array, values: reshaped(array.values, oddText(random)) };
    case "bool":
      return { ...array, values: reshaped(array.values, true) };
    case "u8":
      return { ...array, values: reshaped(array.values, random.below(256)) };
    case "i32":
      return { ...array, values: reshaped(array.values, random.pick([-1, 0, 7, 2 ** 31 - 1])) };
    case "u32":
      return { ...array, values: reshaped(array.values, random.pick(numbers)) };
    case "f32":
      return { ...array, values: reshaped(array.values, oddNumber(random)) };
  }
}

/** Fields and tensors of a GGUF changed, renamed, left out or put twice. */
export function mutatedGguf({ metadata, tensors }: GgufFile, random: SeededRandom): GgufFile {
  let fields = Array.from(metadata);
  let table = Array.from(tensors);
  for (let left = changes(random); left > 0; left--) {
    const at = random.below(fields.length);
    const field = fields[at];
    const tensor = random.below(Math.max(1, table.length));
    switch (random.below(6)) {
      case 0:
        fields = fields.filter((_, index) => index !== at);
        break;
      case 1:
        if (table.length > 0) table = table.filter((_, index) => index !== tensor);
        break;
      case 2:
        table = table.map((each, index) => {
          if (index !== tensor) return each;
          const shape = each.shape.map((side, index) => (index === 0 ? random.pick(sides) : side));
          return random.below(2) === 0
            ? { ...each, shape }
            : { ...each, name: `${each.name}${oddText(random)}`.slice(0, 80) };
        });
        break;
      default:
        if (field === undefined) break;
        fields = fields.map((each, index) =>
          index === at ? [field[0], mutatedValue(field[1], random)] : each,
        );
    }
  }
  const changed: GgufMetadata = new Map(fields);
  return { metadata: changed, tensors: table };
}

/** Bytes of a file flipped, cut off, or replaced by numbers that lengths are made of. */
export function mutatedBytes(bytes: Uint8Array, random: SeededRandom): Buffer {
  let now = Buffer.from(bytes);
  for (let left = changes(random); left > 0; left--) {
    const at = random.below(Math.max(1, now.length));
    switch (random.below(4)) {
      case 0:
        now = now.subarray(0, at);
        break;
      case 1:
        if (at + 8 <= now.length)
          now.writeBigUInt64LE(BigInt(random.pick([0, 1, 255, 65_536, 2 ** 31, 2 ** 40])), at);
        break;
      default:
        if (at < now.length) now[at] = random.below(256);
    }
  }
  return now;
}
