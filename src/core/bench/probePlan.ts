import { count, say, seconds } from "../text";
import type { Text } from "../text";

/** What the first tokens of a model said: enough to price a probe before it starts. */
export interface Feasibility {
  /** Seconds per prompt token over the first `tokens`. */
  readonly secondsPerToken: number;
  readonly tokens: number;
  /** Growth of a token's cost per token of depth, relative to depth 0, where two lengths showed it. */
  readonly growth?: number;
  /** Seconds per generated token there, where it was seen. */
  readonly generationSecondsPerToken?: number;
  /** Seconds to load the model, for a program that loads it again. */
  readonly loadSeconds?: number;
}

export interface ProbeLimits {
  readonly budgetSeconds: number;
  /** Deepest prompt that is of use and that the context holds with a short answer. */
  readonly maxDepth: number;
}

/** One streamed request to a server. */
export interface StreamPlan {
  readonly tokens: number;
  readonly generatedTokens: number;
  readonly seconds: number;
}

/** One call of llama-bench. */
export interface BenchPlan {
  readonly depths: readonly number[];
  readonly promptTokens: number;
  readonly generatedTokens: number;
  readonly repetitions: number;
  /** Tokens that will be processed, filling the cache included. */
  readonly tokens: number;
  readonly seconds: number;
}

/**
 * Growth of a token's cost per token of depth, relative to the cost at depth 0, before anything is known: the upper
 * quarter of the public series. Too high a guess only ends the probe earlier.
 */
const assumedGrowth = 1 / 10_000;
/** Below this depth no slope is seen. */
const leastDepth = 2048;
const deepestUseful = 65_536;

/** Growth from the times of two cold prompts, the longer about four times the shorter; a guess where they say nothing. */
export function relativeGrowth(
  short: { readonly tokens: number; readonly seconds: number },
  long: { readonly tokens: number; readonly seconds: number },
): number | undefined {
  const [m1, m2] = [short.seconds / short.tokens, long.seconds / long.tokens];
  const slope = (2 * (m2 - m1)) / (long.tokens - short.tokens);
  const atZero = m1 - (slope * short.tokens) / 2;
  return slope > 0 && atZero > 0 ? slope / atZero : undefined;
}

function growth(seen: Feasibility): number {
  return seen.growth === undefined
    ? assumedGrowth
    : Math.min(0.05, Math.max(assumedGrowth / 3, 1.2 * seen.growth));
}

/** Seconds to prefill `n` tokens from an empty cache. */
function prefillSeconds(seen: Feasibility, n: number): number {
  const atZero = seen.secondsPerToken / (1 + (growth(seen) * seen.tokens) / 2);
  return atZero * (n + (growth(seen) * n * n) / 2);
}

function costAt(seen: Feasibility, depth: number): number {
  return (seen.secondsPerToken * (1 + growth(seen) * depth)) / (1 + (growth(seen) * seen.tokens) / 2);
}

/** The longest prompt that fits the budget with a little generation behind it; none where not even a slope would show. */
export function planStream(seen: Feasibility, limits: ProbeLimits): StreamPlan | undefined {
  const generatedTokens = 32;
  const answer = (seen.generationSecondsPerToken ?? 0) * generatedTokens * 1.5;
  const fits = (n: number): boolean => prefillSeconds(seen, n) + answer <= limits.budgetSeconds;
  const tokens = deepest(Math.min(limits.maxDepth, deepestUseful), fits);
  if (tokens < leastDepth) return undefined;
  return { tokens, generatedTokens, seconds: prefillSeconds(seen, tokens) + answer };
}

/**
 * Depths 0, D/4 and D with the deepest D that fits the budget. llama-bench fills the cache for every depth from the
 * start, once (older builds: for every repetition), and warms up with one prompt per test.
 */
export function planBench(
  seen: Feasibility,
  limits: ProbeLimits & { readonly depths?: readonly number[] },
): BenchPlan | undefined {
  const price = (depths: readonly number[]): BenchPlan => priceOf(seen, depths);
  if (limits.depths !== undefined && limits.depths.length > 0) {
    return price([...new Set(limits.depths)].sort((p, q) => p - q));
  }
  const largest = Math.min(limits.maxDepth - benchPromptTokens, deepestUseful);
  const designs = [0.25, 0].map((share) => {
    const depthsFor = (d: number): readonly number[] =>
      share === 0 ? [0, d] : [0, Math.round((d * share) / 256) * 256, d];
    const d = deepest(largest, (n) => price(depthsFor(n)).seconds <= limits.budgetSeconds);
    return d < leastDepth ? undefined : price(depthsFor(d));
  });
  return designs.find((plan) => plan !== undefined);
}

const benchPromptTokens = 512;

function priceOf(seen: Feasibility, depths: readonly number[]): BenchPlan {
  return priceBench(seen, { depths, generatedTokens: 16, repetitions: 2 });
}

/** What one call of llama-bench with these depths costs. */
export function priceBench(
  seen: Feasibility,
  { depths, generatedTokens, repetitions }: Pick<BenchPlan, "depths" | "generatedTokens" | "repetitions">,
): BenchPlan {
  const promptTokens = benchPromptTokens;
  const answer =
    (seen.generationSecondsPerToken ?? seen.secondsPerToken) * (repetitions * generatedTokens + 1);
  let total = seen.loadSeconds ?? 0;
  let tokens = 0;
  for (const depth of depths) {
    // warm-up at depth 0, filling, repetitions
    tokens += promptTokens + depth + repetitions * promptTokens + repetitions * generatedTokens + 1;
    total += prefillSeconds(seen, promptTokens) + prefillSeconds(seen, depth) + answer;
    total += repetitions * promptTokens * costAt(seen, depth);
  }
  return { depths, promptTokens, generatedTokens, repetitions, tokens, seconds: total };
}

/** The largest multiple of 256 up to `limit` that fits; costs grow with depth. */
function deepest(limit: number, fits: (tokens: number) => boolean): number {
  let low = 0;
  let high = Math.max(0, Math.floor(limit / 256));
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle * 256)) low = middle;
    else high = middle - 1;
  }
  return low * 256;
}

/** Said before a probe starts. */
export function planText(plan: StreamPlan | BenchPlan): Text {
  return "depths" in plan
    ? say`The probe will read ${count(plan.tokens)} token[s] at depths ${plan.depths.join(", ")}; about ${seconds(plan.seconds)}.`
    : say`The probe will read ${count(plan.tokens)} token[s]; about ${seconds(plan.seconds)}.`;
}
