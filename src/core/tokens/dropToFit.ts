import type { FileKind } from "../files/fileKinds";
import { worthOf } from "../files/fileKinds";
import { append } from "../lists";

export interface DropCandidate {
  readonly label: string;
  /** Tokens that go with the file, its header and fence included. */
  readonly tokens: number;
  readonly kind?: FileKind;
}

export type DropPlan<T extends DropCandidate> =
  | { readonly kind: "fits" }
  /** Not even without any of the files. */
  | { readonly kind: "impossible"; readonly tokensLeft: number }
  | {
      readonly kind: "drop";
      /** In the order of the worth of their kinds, then largest first. */
      readonly files: readonly T[];
      readonly tokensDropped: number;
      readonly tokensLeft: number;
    };

/**
 * The smallest drop after which `total` tokens fit `budget`. Files nobody would miss go first: as long as the kinds of
 * least worth free enough, nothing of more worth is touched; among files of the last kind needed, the choice is the one
 * that loses the fewest tokens.
 * @param total of the whole prompt, what is not a candidate included.
 */
export function dropToFit<T extends DropCandidate>(
  candidates: readonly T[],
  total: number,
  budget: number,
): DropPlan<T> {
  const excess = total - budget;
  if (excess <= 0) return { kind: "fits" };
  const useful = candidates.filter(({ tokens }) => tokens > 0);
  const all = sumOf(useful);
  if (all < excess) return { kind: "impossible", tokensLeft: total - all };
  const dropped = byWorth(useful, excess);
  dropped.sort((a, b) => worthOf(a.kind) - worthOf(b.kind) || b.tokens - a.tokens);
  const tokensDropped = sumOf(dropped);
  return { kind: "drop", files: dropped, tokensDropped, tokensLeft: total - tokensDropped };
}

function byWorth<T extends DropCandidate>(candidates: readonly T[], excess: number): T[] {
  const worths = Array.from(new Set(candidates.map(({ kind }) => worthOf(kind)))).sort((a, b) => a - b);
  const dropped: T[] = [];
  let left = excess;
  for (const worth of worths) {
    const level = candidates.filter(({ kind }) => worthOf(kind) === worth);
    const tokens = sumOf(level);
    if (tokens >= left) return withoutSpare([...dropped, ...smallestSubset(level, left)], excess);
    append(dropped, level);
    left -= tokens;
  }
  return dropped;
}

/** The last choice may free so much that a file of less worth can stay after all; the most worthy of them do. */
function withoutSpare<T extends DropCandidate>(dropped: T[], excess: number): T[] {
  let spare = sumOf(dropped) - excess;
  const keepFirst = [...dropped].sort((a, b) => worthOf(b.kind) - worthOf(a.kind) || b.tokens - a.tokens);
  const kept = new Set<T>();
  for (const file of keepFirst) {
    if (file.tokens > spare) continue;
    kept.add(file);
    spare -= file.tokens;
  }
  return dropped.filter((file) => !kept.has(file));
}

const exactWork = 20_000_000;

/**
 * The files whose tokens sum to at least `need` with the least excess: exact while files × tokens stay below 20 million,
 * else from the largest down, and then too much by less than the smallest file chosen.
 */
function smallestSubset<T extends DropCandidate>(files: readonly T[], need: number): T[] {
  const largest = files.reduce((most, { tokens }) => Math.max(most, tokens), 0);
  const top = need + largest;
  if (files.length * top > exactWork) return greedySubset(files, need);
  // lastOf[s]: 1 + index of the file by which the sum s was first reached, in the order of the files.
  const lastOf = new Int32Array(top + 1);
  let reached = 0;
  files.forEach(({ tokens }, index) => {
    for (let sum = Math.min(top, reached + tokens); sum >= tokens; sum--) {
      if (lastOf[sum] === 0 && (sum === tokens || lastOf[sum - tokens] !== 0)) lastOf[sum] = index + 1;
    }
    reached = Math.min(top, reached + tokens);
  });
  for (let sum = need; sum <= top; sum++) {
    if (lastOf[sum] === 0) continue;
    const subset: T[] = [];
    for (let rest = sum; rest > 0;) {
      const file = files[(lastOf[rest] ?? 0) - 1];
      if (file === undefined) throw new Error("no way back to an empty sum");
      subset.push(file);
      rest -= file.tokens;
    }
    return subset;
  }
  return [...files];
}

function greedySubset<T extends DropCandidate>(files: readonly T[], need: number): T[] {
  const chosen: T[] = [];
  let left = need;
  let smaller = sumOf(files);
  for (const file of [...files].sort((a, b) => b.tokens - a.tokens)) {
    smaller -= file.tokens;
    // A file that frees too much is taken only where all smaller ones together would not do.
    if (file.tokens > left && smaller >= left) continue;
    chosen.push(file);
    left -= file.tokens;
    if (left <= 0) break;
  }
  return chosen;
}

const sumOf = (files: readonly DropCandidate[]): number => files.reduce((sum, { tokens }) => sum + tokens, 0);
