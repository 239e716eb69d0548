/** P(X ≥ k) of n trials with chance p each. */
function chanceOfAtLeast(k: number, n: number, p: number): number {
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  let term = chanceOf(k, n, p);
  let sum = term;
  for (let i = k; i < n; i++) sum += term *= ((n - i) / (i + 1)) * (p / (1 - p));
  return Math.min(1, sum);
}

function chanceOf(k: number, n: number, p: number): number {
  if (p <= 0) return k === 0 ? 1 : 0;
  if (p >= 1) return k === n ? 1 : 0;
  return Math.exp(logChoose(n, k) + k * Math.log(p) + (n - k) * Math.log1p(-p));
}

function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let i = 1; i <= Math.min(k, n - k); i++) sum += Math.log((n - i + 1) / i);
  return sum;
}

export interface Proportion {
  readonly correct: number;
  readonly of: number;
  /** Ends of the interval (Clopper and Pearson 1934), 0 to 1. */
  readonly low: number;
  readonly high: number;
}

/** A share with its exact interval, 95 % unless `tail` (outside on each side) says otherwise; of nothing, everything is possible. */
export function proportion(correct: number, of: number, tail = 0.025): Proportion {
  const low = correct === 0 ? 0 : root((p) => chanceOfAtLeast(correct, of, p) - tail);
  const high = correct === of ? 1 : root((p) => tail - (1 - chanceOfAtLeast(correct + 1, of, p)));
  return { correct, of, low, high: of === 0 ? 1 : high };
}

/** Zero of an increasing function on 0 to 1. */
function root(f: (p: number) => number): number {
  let low = 0;
  let high = 1;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (f(middle) < 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Two-sided exact p of McNemar's test on pairs that differ: `onlyFirst` against `onlyOther`. */
export function mcNemar(onlyFirst: number, onlyOther: number): number {
  const n = onlyFirst + onlyOther;
  return n === 0 ? 1 : Math.min(1, 2 * chanceOfAtLeast(Math.max(onlyFirst, onlyOther), n, 0.5));
}

/**
 * How often a setup with this recall is accepted: every run reaches `perRun` and all together `pooled`. Canaries are
 * taken as independent, which those of one prompt are not quite.
 */
export function acceptanceRate(
  recall: number,
  rule: {
    readonly canaries: number;
    readonly runs: number;
    readonly perRun: number;
    readonly pooled: number;
  },
): number {
  const { canaries, runs, perRun, pooled } = rule;
  let sums: readonly number[] = [1];
  for (let run = 0; run < runs; run++) {
    const next = new Array<number>(sums.length + canaries).fill(0);
    sums.forEach((chance, sum) => {
      for (let k = perRun; k <= canaries; k++) {
        next[sum + k] = (next[sum + k] ?? 0) + chance * chanceOf(k, canaries, recall);
      }
    });
    sums = next;
  }
  return sums.slice(pooled).reduce((total, chance) => total + chance, 0);
}
