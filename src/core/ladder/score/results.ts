import { certaintyOf } from "./answerAgreement";
import type { DevicePeak, LadderRecord, LadderStep, StepPurpose } from "./record";
import { latest } from "./steps";
import { proportion, type Proportion } from "./statistics";
import { largest, smallest } from "../../lists";

/** All runs at one length. */
export interface RungResult {
  readonly tokens: number;
  readonly purpose: StepPurpose;
  readonly steps: readonly LadderStep[];
  /** Runs that brought an answer which can be scored. */
  readonly validRuns: number;
  readonly recall?: Proportion;
  /** Canaries the worst run recalled. */
  readonly worstRun?: { readonly correct: number; readonly of: number };
  /** Recall in ten parts of the prompt, first to last: where it forgets. */
  readonly byPosition: readonly PositionRecall[];
  readonly twins: number;
  readonly answeredSingly: number;
  readonly constraints?: { readonly kept: number; readonly of: number };
  /** Slowest cold reading; where none was cold, absent. */
  readonly prefillSeconds?: number;
  readonly generationTokensPerSecond?: number;
  /** How sure the model was of the tokens of its code answers; 0 is certain. */
  readonly certainty?: { readonly meanLogProbability: number; readonly tokens: number };
  readonly failed: boolean;
}

export interface PositionRecall {
  /** Middle of the part, 0 to 1. */
  readonly depth: number;
  readonly correct: number;
  readonly of: number;
}

/** The record by length, shortest first. The cold confirmation belongs to the target's length. */
export function rungResults(record: LadderRecord): readonly RungResult[] {
  const lengths = [...new Set(record.steps.map((step) => step.tokens))].sort((a, b) => a - b);
  return lengths.map((tokens) => rungResult(record.steps.filter((step) => step.tokens === tokens)));
}

function rungResult(steps: readonly LadderStep[]): RungResult {
  const main = latest(steps.filter((step) => step.purpose !== "confirmation"));
  const valid = main.filter((step) => step.invalid === undefined && step.canaries !== undefined);
  const canaries = valid.flatMap((step) => step.canaries ?? []);
  const correct = canaries.filter((c) => c.outcome === "correct").length;
  const perRun = valid.map((step) => ({
    correct: (step.canaries ?? []).filter((c) => c.outcome === "correct").length,
    of: step.canaries?.length ?? 0,
  }));
  const worstRun = perRun.toSorted((p, q) => p.correct - q.correct)[0];
  const kept = main.flatMap((step) => step.constraints ?? []);
  const cold = steps.filter((step) => step.mode === "cold").map((step) => step.prefillSeconds);
  const prefill = cold.filter((value) => value !== undefined);
  const speeds = main.map((step) => step.generationTokensPerSecond).filter((value) => value !== undefined);
  const certainty = certaintyOf(main);
  const first = main[0] ?? steps[0];
  return {
    tokens: first?.tokens ?? 0,
    purpose: first?.purpose ?? "curve",
    steps: latest(steps),
    validRuns: valid.length,
    ...(canaries.length > 0 && { recall: proportion(correct, canaries.length) }),
    ...(worstRun !== undefined && { worstRun }),
    byPosition: histogram(canaries),
    twins: canaries.filter((c) => c.outcome === "twin").length,
    answeredSingly: canaries.filter((c) => c.asked === "singly").length,
    ...(kept.length > 0 && { constraints: { kept: kept.filter((c) => c.kept).length, of: kept.length } }),
    ...(prefill.length > 0 && { prefillSeconds: largest(prefill) }),
    ...(speeds.length > 0 && { generationTokensPerSecond: smallest(speeds) }),
    ...(certainty !== undefined && { certainty }),
    failed: main.some((step) => step.failure !== undefined),
  };
}

function histogram(
  canaries: readonly { readonly depth: number; readonly outcome: string }[],
): readonly PositionRecall[] {
  const parts = 10;
  return Array.from({ length: parts }, (_, part) => {
    const here = canaries.filter((c) => Math.min(parts - 1, Math.floor(c.depth * parts)) === part);
    return {
      depth: (part + 0.5) / parts,
      correct: here.filter((c) => c.outcome === "correct").length,
      of: here.length,
    };
  }).filter(({ of }) => of > 0);
}

/** Every device, and the host last, when it had least free. */
export function peaksOf(steps: readonly LadderStep[]): readonly DevicePeak[] {
  const peaks = new Map<string, DevicePeak>();
  const devices = steps.flatMap((step) => step.memory?.devices ?? []);
  const hosts = steps.flatMap(({ memory }) =>
    memory?.hostLeastFreeBytes === undefined
      ? []
      : [
          {
            name: "Host",
            leastFreeBytes: memory.hostLeastFreeBytes,
            ...(memory.hostTotalBytes !== undefined && { totalBytes: memory.hostTotalBytes }),
          },
        ],
  );
  for (const peak of [...devices, ...hosts]) {
    const known = peaks.get(peak.name);
    if (known === undefined || peak.leastFreeBytes < known.leastFreeBytes) peaks.set(peak.name, peak);
  }
  return [...peaks.values()];
}
