import { costAt, fitCurve, secondsBetween } from "../prefill/curveFit";
import type { DepthCurve } from "../prefill/depthCurve";
import { generationSecondsPerToken } from "../prefill/generationSpeed";
import { count, percent, say, seconds } from "../text";
import type { Text } from "../text";
import { defaultThreshold } from "./comparison";
import { priceBench, type Feasibility } from "./probePlan";

/** A comparison that could be run: what it costs is known before it starts. */
export interface ComparisonPlan {
  readonly depths: readonly number[];
  /** Tokens processed by all runs (baseline, others, baseline), filling the cache included. */
  readonly tokens: number;
  readonly seconds: number;
  /** Smallest difference that will count, as a part of 1. */
  readonly threshold: number;
}

const shallowest = 4096;
const feasibilityTokens = 2048;
/** Tokens of the prompts whose answers are compared, with both settings. */
const agreementTokens = 4000;
const generatedTokens = 32;
const repetitions = 2;
/** Behind a depth there is room for what is measured there. */
const room = 1024;

/** What a curve says about the first tokens, as a run over them would. */
export function feasibilityOf(curve: DepthCurve): Feasibility | undefined {
  if (curve.points.length === 0) return undefined;
  const fit = fitCurve(curve);
  const generation = generationSecondsPerToken(curve.generation, 0);
  const atZero = costAt(fit, 0);
  return {
    secondsPerToken: secondsBetween(fit, 0, feasibilityTokens) / feasibilityTokens,
    tokens: feasibilityTokens,
    ...(atZero > 0 && fit.b > 0 && { growth: fit.b / atZero }),
    ...(generation !== undefined && { generationSecondsPerToken: generation }),
  };
}

/** Depths worth comparing at in a window of so many tokens: doubled each time, and the end of the window. */
export function comparisonDepths(window: number): readonly number[] {
  const deepest = Math.max(0, Math.floor((window - room) / 256) * 256);
  if (deepest <= shallowest) return [deepest];
  const depths: number[] = [];
  for (let depth = shallowest; depth < 0.75 * deepest; depth *= 2) depths.push(depth);
  return [...depths, deepest];
}

/** The same depth twice is once too many; depth 0 runs along as the control for drift. */
export const benchDepths = (depths: readonly number[]): readonly number[] =>
  [...new Set([0, ...depths])].sort((p, q) => p - q);

/** What a comparison of the baseline with `others` other settings costs at these depths, in one run. */
export function planComparison(seen: Feasibility, depths: readonly number[], others = 1): ComparisonPlan {
  const { tokens, seconds: each } = priceBench(seen, {
    depths: benchDepths(depths),
    generatedTokens,
    repetitions,
  });
  const load = seen.loadSeconds ?? 0;
  const arms = others + 2;
  const loads = others === 1 ? 1 : arms;
  // the sample of answers: two more loads, a few short prompts
  const answers = others * (2 * load + agreementTokens * seen.secondsPerToken);
  return {
    depths,
    tokens: arms * tokens,
    seconds: loads * load + arms * (each - load) + answers,
    threshold: defaultThreshold,
  };
}

/** Said before it starts. */
export function comparisonPlanText({ depths, tokens, seconds: took, threshold }: ComparisonPlan): Text {
  const counts = depths.map((depth) => count(depth));
  const [first = count(0), ...rest] = counts;
  const list = rest.reduce((all, one) => say`${all}, ${one}`, say`${first}`);
  return say`Depth ${list}: ${count(tokens)} token[s], about ${seconds(took)}. Differences below ${percent(100 * threshold)} or below the noise will count as none.`;
}
