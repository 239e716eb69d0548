import type { LadderPlan } from "../../../../src/core/ladder/plan/plan";
import { defaultPlan } from "../../../../src/core/ladder/plan/plan";
import type { LadderHeader, LadderRecord, LadderStep } from "../../../../src/core/ladder/score/record";
import type { CanaryOutcome } from "../../../../src/core/ladder/score/scoring";

export const plan: LadderPlan = {
  ...defaultPlan,
  rungs: [8192, 32_768],
  constraints: false,
  criteria: { ...defaultPlan.criteria, constraints: 0 },
};

export function headerOf(wanted: LadderPlan = plan): LadderHeader {
  return {
    kind: "ladder",
    version: 1,
    tool: "0",
    at: 0,
    plan: wanted,
    planHash: "p",
    criteriaHash: "c",
    setup: { model: "m.gguf", build: "b11669" },
    machine: { platform: "linux", cpu: "x", logicalCpus: 2, memoryBytes: 2 ** 34 },
    url: "http://127.0.0.1:9931",
    nCtxPerSlot: 65_536,
    totalSlots: 1,
  };
}

/** A step whose canaries have these outcomes, spread over the prompt. */
export function stepOf(
  tokens: number,
  run: number,
  outcomes: readonly CanaryOutcome[],
  more: Partial<LadderStep> = {},
): LadderStep {
  return {
    kind: "step",
    tokens,
    run,
    purpose: tokens === 4096 ? "base" : tokens === 32_768 ? "target" : "curve",
    mode: run === 1 && tokens !== 4096 ? "grown" : "cold",
    at: 0,
    seconds: 1,
    sentTokens: tokens,
    evaluatedTokens: tokens,
    prefillSeconds: tokens / 1000,
    generationTokensPerSecond: 20,
    cleanFormat: true,
    monitor: { verdict: "clean", events: [], samples: 5 },
    canaries: outcomes.map((outcome, i) => ({
      key: `k${i}`,
      expected: "1",
      outcome,
      position: 0,
      depth: 0.1 + (0.8 * i) / Math.max(1, outcomes.length - 1),
      asked: "together",
    })),
    ...more,
  };
}

export const outcomes = (
  correct: number,
  of: number,
  otherwise: CanaryOutcome = "missing",
): CanaryOutcome[] => Array.from({ length: of }, (_, i) => (i < correct ? "correct" : otherwise));

export const recordOf = (steps: readonly LadderStep[], wanted: LadderPlan = plan): LadderRecord => ({
  header: headerOf(wanted),
  steps,
  warnings: [],
});
