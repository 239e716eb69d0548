import { count, say, seconds } from "../text";
import type { Text } from "../text";
import { UserError } from "../userError";
import { largest } from "../lists";

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

/** One long prompt, read by a server in one piece or with stops. */
export interface StreamPlan {
  readonly tokens: number;
  /** Lengths at which reading stops to generate a few tokens, in order; the last is `tokens`. */
  readonly stops: readonly number[];
  /** At each of them. */
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

/** The longest prompt that fits the budget with a little generation; none where not even a slope would show. */
export function planStream(seen: Feasibility, limits: ProbeLimits): StreamPlan | undefined {
  const price = (n: number): StreamPlan => priceStream(seen, stopsFor(n), limits.budgetSeconds);
  const tokens = deepest(
    Math.min(limits.maxDepth, deepestUseful),
    (n) => price(n).seconds <= limits.budgetSeconds,
  );
  return tokens < leastDepth ? undefined : price(tokens);
}

/** Generation is measured at a quarter and half of the depth, too, where the first tokens have not shown it already. */
function stopsFor(tokens: number): readonly number[] {
  const between = [0.25, 0.5].map((share) => Math.round((share * tokens) / 256) * 256);
  return [...between.filter((stop) => stop >= 1.5 * leastDepth && stop < tokens), tokens];
}

const mostGenerated = 32;
const leastGenerated = 4;
/** Part of the budget that generation may take. */
const generationShare = 0.2;

/** What one prompt with these stops costs. */
export function priceStream(seen: Feasibility, stops: readonly number[], budgetSeconds: number): StreamPlan {
  const tokens = largest(stops, 0);
  // deeper, a token takes longer than the one that was seen
  const each = 1.5 * (seen.generationSecondsPerToken ?? seen.secondsPerToken) * stops.length;
  const affordable = Math.floor((generationShare * budgetSeconds) / Math.max(each, 1e-9));
  const generatedTokens = Math.min(mostGenerated, Math.max(leastGenerated, affordable));
  const total = prefillSeconds(seen, tokens) + generatedTokens * each;
  return { tokens, stops, generatedTokens, seconds: total };
}

/** Depths that were asked for, once each, from the shallowest on. */
export const askedDepths = (depths: readonly number[]): readonly number[] =>
  [...new Set(depths)].sort((p, q) => p - q);

/**
 * Depths that were asked for are measured or refused before they cost anything.
 * @param left seconds of the budget that are not spent yet
 * @throws UserError
 */
export function refuseDear(
  { seconds: price }: { readonly seconds: number },
  { budgetSeconds, left }: { readonly budgetSeconds: number; readonly left: number },
): void {
  if (price <= left) return;
  const needed = Math.ceil((1.05 * (budgetSeconds - left + price)) / 10) * 10;
  throw new UserError(
    "tooLarge",
    say`These depths would take about ${seconds(price)}; ${seconds(Math.max(0, left))} of the ${seconds(budgetSeconds)} allowed are left for them.`,
    say`Allow ${count(needed)} s (--budget), or measure less deep.`,
  );
}

/** Room behind a prompt for what is generated there, and for what the server itself adds. */
const answerRoom = 64;

/** The longest prompt that a slot of so many tokens takes with a short answer. */
export const deepestIn = (slot: number): number => slot - answerRoom;

/** @throws UserError where the server's slots have no room for a depth that was asked for */
export function refuseTooDeep(depths: readonly number[], slot: number): void {
  const asked = largest(depths, 0);
  if (asked <= deepestIn(slot)) return;
  throw new UserError(
    "tooLarge",
    say`Depth ${count(asked)} cannot be measured: a slot of this server holds ${count(slot)} token[s], answer included.`,
    say`Start it with a larger -c, or measure less deep.`,
  );
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
  if (limits.depths !== undefined && limits.depths.length > 0) return price(askedDepths(limits.depths));
  const most = Math.min(limits.maxDepth - benchPromptTokens, deepestUseful);
  const designs = [0.25, 0].map((share) => {
    const depthsFor = (d: number): readonly number[] =>
      share === 0 ? [0, d] : [0, Math.round((d * share) / 256) * 256, d];
    const d = deepest(most, (n) => price(depthsFor(n)).seconds <= limits.budgetSeconds);
    return d < leastDepth ? undefined : price(depthsFor(d));
  });
  return designs.find((plan) => plan !== undefined);
}

/** Tokens that llama-bench reads at every depth. */
export const benchPromptTokens = 512;

function priceOf(seen: Feasibility, depths: readonly number[]): BenchPlan {
  const order = withRepeat(depths);
  const price = priceBench(seen, { depths: order, generatedTokens: 16, repetitions: 2 });
  return { ...price, depths };
}

/** Depth 0 once more behind the others: if that moved, the machine did. */
export const withRepeat = (depths: readonly number[]): readonly number[] =>
  depths[0] === 0 && depths.length > 1 ? [...depths, 0] : depths;

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
