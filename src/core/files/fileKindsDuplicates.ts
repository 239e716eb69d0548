import { say } from "../text";
import type { FileMark } from "./fileKinds";

/** The smallest hashes of a text's lines: two texts share as many of them as they share lines. */
export type TextSketch = Uint32Array;

const sketchSize = 64;
/** Of the lines of two texts that many must be common, by the sketch. */
const similar = 0.85;
const fewestLines = 8;
const longestText = 1 << 20;

/** Undefined for texts too short to say anything; looks at the first 2^20 bytes. @param text UTF-8 */
export function sketchOf(text: Uint8Array): TextSketch | undefined {
  const smallest = new Smallest();
  const end = Math.min(text.length, longestText);
  for (let start = 0; start < end;) {
    let stop = text.indexOf(10, start);
    if (stop < 0 || stop > end) stop = end;
    const hash = lineHash(text, start, stop);
    if (hash >= 0) smallest.add(hash);
    start = stop + 1;
  }
  return smallest.size < fewestLines ? undefined : smallest.take();
}

/** The smallest of the numbers it is given, each once. */
class Smallest {
  private readonly sorted = new Uint32Array(sketchSize);
  size = 0;

  add(value: number): void {
    const { sorted } = this;
    if (this.size === sketchSize && value >= (sorted[sketchSize - 1] as number)) return;
    let at = this.size;
    while (at > 0 && (sorted[at - 1] as number) > value) at--;
    if (at > 0 && sorted[at - 1] === value) return;
    sorted.copyWithin(at + 1, at, Math.min(this.size, sketchSize - 1));
    sorted[at] = value;
    if (this.size < sketchSize) this.size++;
  }

  take(): TextSketch {
    return this.sorted.slice(0, this.size);
  }
}

/** Without indentation and line end; -1 for lines without a letter or digit (braces are common to all). */
function lineHash(text: Uint8Array, from: number, to: number): number {
  let start = from;
  let stop = to;
  while (start < stop && (text[start] as number) <= 32) start++;
  while (stop > start && (text[stop - 1] as number) <= 32) stop--;
  let hash = 0x811c9dc5;
  let telling = false;
  for (let i = start; i < stop; i++) {
    const byte = text[i] as number;
    telling ||= byte >= 128 || (byte >= 48 && byte <= 57) || ((byte | 32) >= 97 && (byte | 32) <= 122);
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  if (!telling) return -1;
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) >>> 0;
}

export interface Sketched {
  readonly label: string;
  readonly sketch: TextSketch;
}

/** Of the smallest hashes that many are looked up: two texts 85 % alike share one of them in 99.7 % of all cases. */
const keyCount = 3;
/** A line very many files have (a licence) must not make every pair of them a candidate. */
const candidatesPerKey = 8;

/** Finds texts that are nearly the same as one given before; the cost per text stays the same however many there are. */
export class NearDuplicates {
  private readonly originals = new Map<number, Sketched[]>();

  add(file: Sketched): FileMark | undefined {
    const keys = file.sketch.subarray(0, keyCount);
    const original = findAlike(file.sketch, keys, this.originals);
    if (original !== undefined) {
      return { kind: "duplicate", evidence: say`It is almost identical to ${original.label}.` };
    }
    for (const key of keys) {
      const others = this.originals.get(key);
      if (others === undefined) this.originals.set(key, [file]);
      else if (others.length < candidatesPerKey) others.push(file);
    }
    return undefined;
  }
}

function findAlike(
  sketch: TextSketch,
  keys: TextSketch,
  originals: ReadonlyMap<number, readonly Sketched[]>,
): Sketched | undefined {
  for (const key of keys) {
    const found = originals.get(key)?.find((other) => likeness(sketch, other.sketch, similar) >= similar);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Share of common lines among all lines of both (Jaccard), estimated from the smallest hashes; anything less where it
 * cannot reach `atLeast` any more.
 */
export function likeness(a: TextSketch | undefined, b: TextSketch | undefined, atLeast = 0): number {
  if (a === undefined || b === undefined) return 0;
  const size = Math.min(sketchSize, Math.max(a.length, b.length));
  const mostDifferent = (1 - atLeast) * size;
  let [i, j, common, taken] = [0, 0, 0, 0];
  while (taken < size && taken - common <= mostDifferent && (i < a.length || j < b.length)) {
    const left = a[i] ?? Infinity;
    const right = b[j] ?? Infinity;
    if (left === right) common++;
    if (left <= right) i++;
    if (right <= left) j++;
    taken++;
  }
  return taken === 0 ? 0 : common / taken;
}
