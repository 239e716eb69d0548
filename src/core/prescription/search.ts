import { valueOf } from "../known";
import { changedOptions, type LaunchChange } from "../launch/launchChange";
import type { VerdictKind } from "../report/gaugeReport";
import type { Judged } from "../report/whatIf";
import type { Step, StepFamily } from "./steps";

/** Steps together with the context they are made with, and what is true then. */
export interface Found {
  readonly steps: readonly Step[];
  readonly change: LaunchChange;
  readonly judged: Judged;
}

/** The larger, the worse. */
export const rank: Readonly<Record<VerdictKind, number>> = {
  fits: 0,
  slow: 1,
  tight: 2,
  unknown: 3,
  exceedsMemory: 4,
  exceedsContext: 4,
};

/** What the options of a server can do about it is done. */
export const settled = ({ verdict }: Judged): boolean => rank[verdict.kind] <= rank.slow;

/** `-fit` would move layers to the host: it works, but one would rather not. */
export const movesLayers = ({ memory }: Pick<Judged, "memory">): boolean =>
  valueOf(memory)?.warnings.some(({ code }) => code === "fitMovesLayers") === true;

export interface SearchInputs {
  readonly now: Pick<Judged, "verdict" | "memory">;
  readonly steps: readonly Step[];
  /** The whole change that a set of steps makes; undefined where they do not go together. */
  readonly complete: (set: readonly Step[]) => LaunchChange | undefined;
  /** Undefined where llama-server would not start with it. */
  readonly judge: (change: LaunchChange) => Judged | undefined;
}

/** Each of them tens of milliseconds at worst. */
const mostTrials = 100;
const mostSteps = 4;

/**
 * The sets of steps that make the verdict better, the fewest steps first: with more of them only where fewer do not settle
 * it, and never more than a set that settles it already.
 */
export function search({ now, steps, complete, judge }: SearchInputs): readonly Found[] {
  const found: Found[] = [];
  const tried = new Set<string>();
  const movedAlready = movesLayers(now);
  const badness = (judged: Judged): number =>
    rank[judged.verdict.kind] + (!movedAlready && movesLayers(judged) ? 0.5 : 0);
  const done = (judged: Judged): boolean => badness(judged) <= rank.slow;
  let trials = 0;
  for (let size = 1; size <= mostSteps; size++) {
    if (found.some(({ judged }) => done(judged))) break;
    for (const set of combinations(steps, size)) {
      if (found.some((each) => done(each.judged) && each.steps.every((step) => set.includes(step)))) continue;
      const change = complete(set);
      if (change === undefined || changedOptions(change).length === 0) continue;
      const key = JSON.stringify(changedOptions(change));
      if (tried.has(key)) continue;
      tried.add(key);
      if (++trials > mostTrials) return found;
      const judged = judge(change);
      if (judged === undefined || judged.verdict.kind === "unknown") continue;
      if (rank[judged.verdict.kind] >= rank[now.verdict.kind]) continue;
      const simpler = found.some(
        (each) => each.steps.every((step) => set.includes(step)) && badness(each.judged) <= badness(judged),
      );
      if (!simpler) found.push({ steps: set, change, judged });
    }
  }
  return found;
}

/** Sets of steps of different families, the cheapest first. */
function combinations(steps: readonly Step[], size: number): readonly (readonly Step[])[] {
  const sets: (readonly Step[])[] = [];
  const extend = (set: readonly Step[], from: number, families: ReadonlySet<StepFamily>): void => {
    if (set.length === size) {
      sets.push(set);
      return;
    }
    for (let i = from; i < steps.length; i++) {
      const step = steps[i];
      if (step === undefined || families.has(step.family)) continue;
      extend([...set, step], i + 1, new Set([...families, step.family]));
    }
  };
  extend([], 0, new Set());
  return sets.sort((a, b) => weightOf(a) - weightOf(b));
}

export const weightOf = (steps: readonly Step[]): number =>
  steps.reduce((sum, { weight }) => sum + weight, 0);
