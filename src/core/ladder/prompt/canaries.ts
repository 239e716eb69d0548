import type { LadderRandom } from "./ladderRandom";
import { adjectives, nouns } from "./canaryWords";

/** A fact to be recalled: an entry's key and its value, and the twin that is easily taken for it. */
export interface Canary {
  readonly key: string;
  /** Six digits: a guess is right once in a million. */
  readonly value: string;
  readonly twin?: { readonly key: string; readonly value: string };
}

/** The line a canary or a twin is told in. */
export const entryLine = (key: string, value: string): string =>
  `${lineBeginning(key)}${value}" is in force.\n`;

/** A line up to its value: what a model is to complete. */
export const lineBeginning = (key: string): string => `Registry entry "${key}": "`;

/**
 * As many canaries as asked for, no key or value twice. Keys are an adjective, a noun and two different digits; a
 * twin's key has the digits swapped. Word pairs are never shared, also not with `used`.
 */
export function makeCanaries(
  wanted: number,
  distractors: boolean,
  random: LadderRandom,
  used: { readonly pairs: Set<string>; readonly values: Set<string> },
): readonly Canary[] {
  const fresh = <T>(make: () => T, key: (made: T) => string, taken: Set<string>): T => {
    for (;;) {
      const made = make();
      if (taken.has(key(made))) continue;
      taken.add(key(made));
      return made;
    }
  };
  const value = (): string =>
    fresh(
      () => String(100_000 + random.below(900_000)),
      (v) => v,
      used.values,
    );
  return Array.from({ length: wanted }, () => {
    const pair = fresh(
      () => `${random.pick(adjectives)}-${random.pick(nouns)}`,
      (p) => p,
      used.pairs,
    );
    const first = 1 + random.below(9);
    const second = 1 + ((first + random.below(8)) % 9);
    const canary = { key: `${pair}-${first}${second}`, value: value() };
    return distractors ? { ...canary, twin: { key: `${pair}-${second}${first}`, value: value() } } : canary;
  });
}

export interface PlacedCanary extends Canary {
  /** Index of the first token of its line in the prompt. */
  readonly position: number;
}
