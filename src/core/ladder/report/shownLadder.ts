import type { MachineFacts } from "../../history/historyRecord";
import type { SecondsBand } from "../score/feasibility";
import { ladderReport, measuredLimits, type LadderReport } from "./ladderReport";
import type { MeasuredLimits } from "../score/recommend";
import type { LadderRecord, LadderStep } from "../score/record";
import { endsAtBase } from "../score/recallWindow";
import { isDone, plannedSteps } from "../score/steps";

/** A ladder as surfaces draw it: what was found, without prompts and answers. */
export interface ShownLadder {
  /** Names its record among the stored ones. */
  readonly id: string;
  /** File name of the plan. */
  readonly label: string;
  /** When it was begun; milliseconds since the epoch. */
  readonly at: number;
  readonly steps: { readonly done: number; readonly planned: number };
  readonly report: LadderReport;
  readonly machine: MachineFacts;
  /** Speed, recall and context, for what a use may cost. */
  readonly limits: MeasuredLimits;
}

/** Where a running ladder is. */
export interface LadderProgress {
  readonly tokens: number;
  readonly run: number;
  /** Tokens of this length that have been read. */
  readonly processed: number;
  readonly steps: { readonly done: number; readonly planned: number };
  /** Until all steps are done; absent where nothing tells. */
  readonly remaining?: SecondsBand;
}

export type LadderState =
  | { readonly status: "none" }
  | { readonly status: "running"; readonly progress: LadderProgress; readonly ladder?: ShownLadder }
  | { readonly status: "shown"; readonly ladder: ShownLadder };

export function shownLadder(
  id: string,
  record: LadderRecord,
  earlier: readonly LadderRecord[] = [],
): ShownLadder {
  const { header, steps } = record;
  const planned = plannedSteps(header.plan);
  const report = ladderReport(record, earlier);
  const done = planned.filter((step) => isDone(step, steps)).length;
  return {
    id,
    label: header.label ?? header.planHash,
    at: header.at,
    // what ended at the base score has nothing left to do
    steps: { done, planned: endsAtBase(record) ? done : planned.length },
    report: { ...report, rungs: report.rungs.map((rung) => ({ ...rung, steps: rung.steps.map(shownStep) })) },
    machine: header.machine,
    limits: measuredLimits(record),
  };
}

/** Whether something of the plan is still to be done. */
export const isResumable = ({ steps }: ShownLadder): boolean => steps.done < steps.planned;

export function shownOf(state: LadderState): ShownLadder | undefined {
  return state.status === "none" ? undefined : state.ladder;
}

/** Pages get neither answers nor single tokens: they are long and draw nothing. */
const notShown: ReadonlySet<string> = new Set<keyof LadderStep>([
  "answer",
  "constraintAnswer",
  "points",
  "answerIds",
  "constraintIds",
  "constraintLogProbabilities",
  "canaries",
]);

const shownStep = (step: LadderStep): LadderStep =>
  Object.fromEntries(Object.entries(step).filter(([name]) => !notShown.has(name))) as unknown as LadderStep;
