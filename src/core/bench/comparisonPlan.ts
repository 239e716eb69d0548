import { costAt, fitCurve, secondsBetween } from "../prefill/curveFit";
import type { DepthCurve } from "../prefill/depthCurve";
import { generationSecondsPerToken } from "../prefill/generationSpeed";
import { count, percent, say, seconds } from "../text";
import type { Text } from "../text";
import { defaultThreshold } from "./comparison";
import { priceBench, type Feasibility } from "./probePlan";

/** A comparison that could be run: what it costs is known before it starts. */
export interface ComparisonPlan {
  readonly depth: number;
  /** Tokens processed by the three runs (baseline, other, baseline), filling the cache included. */
  readonly tokens: number;
  readonly seconds: number;
  /** Smallest difference that will count, as a part of 1. */
  readonly threshold: number;
}

const arms = 3;
const depths = [4096, 8192, 16_384, 32_768, 65_536] as const;
const feasibilityTokens = 2048;
/** Tokens of the prompts whose answers are compared, with both settings. */
const agreementTokens = 4000;
const generatedTokens = 32;
const repetitions = 2;

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

/** The depths a comparison can be made at in this context, each with its price; the shallowest always. */
export function planComparisons(seen: Feasibility, context: number): readonly ComparisonPlan[] {
  const room = context - 1024;
  const fitting = depths.filter((depth) => depth <= room);
  const shallow = Math.max(0, Math.floor(Math.min(room, 4096) / 256) * 256);
  return (fitting.length > 0 ? fitting : [shallow]).map((depth) => {
    const at = depth > 0 ? [0, depth] : [0];
    const { tokens, seconds: each } = priceBench(seen, { depths: at, generatedTokens, repetitions });
    const load = seen.loadSeconds ?? 0;
    // the sample of answers: two more loads, a few short prompts
    const answers = 2 * load + agreementTokens * seen.secondsPerToken;
    return {
      depth,
      tokens: arms * tokens,
      seconds: load + arms * (each - load) + answers,
      threshold: defaultThreshold,
    };
  });
}

/** Said before it starts. */
export function comparisonPlanText({ depth, tokens, seconds: took, threshold }: ComparisonPlan): Text {
  return say`Depth ${count(depth)}: ${count(tokens)} token[s], about ${seconds(took)}. Differences below ${percent(100 * threshold)} or below the noise will count as none.`;
}
