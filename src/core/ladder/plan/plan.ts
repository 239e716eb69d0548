import { largest, smallest } from "../../lists";

/** What a ladder does and what it must reach, declared before it runs. Lengths in tokens of the whole templated prompt. */
export interface LadderPlan {
  /** Increasing; the last one is the target. */
  readonly rungs: readonly number[];
  /** Length of the base score: what the model recalls when nothing is far away. Below the first rung. */
  readonly baseTokens: number;
  /** Runs with different seeds at the target and the repeated lengths; the others run once. */
  readonly repetitions: number;
  /** Other lengths that matter, the base's among them: run as often as the target, with as many canaries. */
  readonly repeated?: readonly number[];
  /** 64 bits, in decimal: everything random follows from it. */
  readonly seed: string;
  readonly canaries: CanaryPlan;
  /** Three rules at the start, middle and end, and a small change of code that must keep them. */
  readonly constraints: boolean;
  readonly filler: FillerPlan;
  readonly answerTokens: number;
  readonly thinking: "off" | "on";
  readonly limits: { readonly rungSeconds: number; readonly totalSeconds: number };
  readonly criteria: LadderCriteria;
}

export interface CanaryPlan {
  /** Asked at the base and the target. */
  readonly target: number;
  /** Asked at the rungs between; a curve, no proof. */
  readonly other: number;
  /** Where they stand, in percent of the prompt; spread over 10 to 90 where absent. */
  readonly positions?: readonly number[];
  /** Each has a twin whose key differs by two swapped digits. */
  readonly distractors: boolean;
  /**
   * How they are asked for; absent: `json`, all at once as one JSON object. `line`: one by one and without a chat
   * template, where the text goes on with the beginning of the line; small and base models can do that as well.
   */
  readonly question?: "json" | "line";
}

export type FillerPlan =
  | { readonly kind: "shipped" }
  /** As written in the plan; relative to the plan's folder. */
  | { readonly kind: "folder"; readonly folder: string };

/** What the target must reach. A changed criterion is a new plan: its hash is stored before the first rung. */
export interface LadderCriteria {
  /** Canaries that each run must recall. */
  readonly perRun: number;
  /** Canaries that all runs together must recall. */
  readonly pooled: number;
  /** Coding constraints that each run must keep. */
  readonly constraints: number;
  /** Longest prefill of the target. */
  readonly prefillSeconds?: number;
  /** Slowest generation at the target. */
  readonly generationTokensPerSecond?: number;
  /** What must stay free on every device; the larger of the two. */
  readonly memoryMarginBytes: number;
  readonly memoryMarginPercent: number;
  /** "clean": a disturbed machine fails the run. "stated": it only is recorded. */
  readonly monitor: "clean" | "stated";
}

/** A canary's line, its twin's and its part of the question, in tokens of a usual vocabulary. */
export const tokensPerCanary = { line: 32, question: 18 } as const;

const MiB = 2 ** 20;

/**
 * 20 canaries with 3 seeds: a setup that recalls 0.85 of them passes in 4 of 100 ladders, one that recalls 0.98 in 99
 * (binomial). With 18 in each run, 2.3 of 100 good setups would be sent away.
 */
export const defaultCriteria: LadderCriteria = {
  perRun: 17,
  pooled: 56,
  constraints: 3,
  memoryMarginBytes: 512 * MiB,
  memoryMarginPercent: 3,
  monitor: "stated",
};

export const usualRungs: readonly number[] = [8, 32, 64, 72, 96, 126].map((k) => k * 1024);

export const defaultPlan: LadderPlan = {
  rungs: usualRungs,
  baseTokens: 4096,
  repetitions: 3,
  seed: "20260923",
  canaries: { target: 20, other: 10, distractors: true },
  constraints: true,
  filler: { kind: "shipped" },
  answerTokens: 1024,
  thinking: "off",
  limits: { rungSeconds: 3600, totalSeconds: 6 * 3600 },
  criteria: defaultCriteria,
};

export const targetOf = (plan: LadderPlan): number => plan.rungs.at(-1) ?? 0;

/** Whether a length is run `repetitions` times. */
export const isRepeated = (plan: LadderPlan, tokens: number): boolean =>
  tokens === targetOf(plan) || (plan.repeated ?? []).includes(tokens);

/** Canaries asked at a length. */
export function canariesAt(plan: LadderPlan, tokens: number): number {
  return tokens === plan.baseTokens || isRepeated(plan, tokens) ? plan.canaries.target : plan.canaries.other;
}

/** Positions of the canaries as parts of the prompt, 0.1 to 0.9 unless the plan says otherwise. */
export function positionsAt(plan: LadderPlan, tokens: number): readonly number[] {
  const wanted = canariesAt(plan, tokens);
  const own = plan.canaries.positions;
  if (own !== undefined && own.length === wanted) return own.map((percent) => percent / 100);
  const [low, high] = own === undefined ? [0.1, 0.9] : [smallest(own) / 100, largest(own) / 100];
  if (wanted === 1) return [(low + high) / 2];
  return Array.from({ length: wanted }, (_, i) => low + ((high - low) * i) / (wanted - 1));
}

/** The same text for the same criteria, whatever their order in a file: what is hashed. */
export function criteriaText({ criteria, repetitions, repeated, canaries }: LadderPlan): string {
  const { target, question } = canaries;
  return canonical({ criteria, repetitions, repeated, canaries: target, question });
}

/** The whole plan, likewise. */
export const planIdentity = (plan: LadderPlan): string => canonical(plan);

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return `{${fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`)
    .join(",")}}`;
}
