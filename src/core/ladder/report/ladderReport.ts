import type { Text } from "../../text";
import { judgeLadder, type CriterionResult } from "../score/judgeLadder";
import { nextStep, type NextStep } from "../diagnosis/nextStep";
import { canariesAt, targetOf, type LadderCriteria } from "../plan/plan";
import {
  ladderCurve,
  recommendations,
  type FolderTokens,
  type MeasuredLimits,
  type Recommendation,
} from "../score/recommend";
import type { LadderRecord } from "../score/record";
import { baseVerdict, recallWindow, type RecallWindow } from "../score/recallWindow";
import type { RungResult } from "../score/results";
import { acceptanceRate } from "../score/statistics";

/** What `ladder` prints and a panel draws. */
export interface LadderReport {
  readonly criteria: DeclaredCriteria;
  readonly rungs: readonly RungResult[];
  readonly pass: boolean;
  readonly complete: boolean;
  readonly results: readonly CriterionResult[];
  readonly nextStep: NextStep;
  /** How far recall reaches, and how surely. */
  readonly window: RecallWindow;
  readonly targetTokens: number;
  readonly planHash: string;
  readonly setup: LadderRecord["header"]["setup"];
  readonly warnings: readonly Text[];
  /** A context for each use, from what was measured. */
  readonly recommended: readonly Recommendation[];
}

export interface DeclaredCriteria extends LadderCriteria {
  readonly hash: string;
  readonly runs: number;
  readonly canariesPerRun: number;
  /** How often a setup of this recall would pass. */
  readonly acceptance: readonly { readonly recall: number; readonly rate: number }[];
}

/** @param earlier ladders of the same model and machine: failures that come back show there */
export function ladderReport(
  record: LadderRecord,
  earlier: readonly LadderRecord[] = [],
  folder?: FolderTokens,
): LadderReport {
  const { header, warnings } = record;
  const { plan } = header;
  const outcome = judgeLadder(record);
  const next = nextStep(record, outcome, earlier);
  const rule = {
    canaries: canariesAt(plan, targetOf(plan)),
    runs: plan.repetitions,
    perRun: plan.criteria.perRun,
    pooled: plan.criteria.pooled,
  };
  return {
    criteria: {
      ...plan.criteria,
      hash: header.criteriaHash,
      runs: rule.runs,
      canariesPerRun: rule.canaries,
      acceptance: [0.8, 0.85, 0.9, 0.95, 0.98, 0.99].map((recall) => ({
        recall,
        rate: acceptanceRate(recall, rule),
      })),
    },
    rungs: outcome.rungs,
    pass: outcome.pass,
    complete: outcome.complete,
    results: outcome.results,
    nextStep: next,
    window: recallWindow(outcome, record),
    targetTokens: targetOf(plan),
    planHash: header.planHash,
    setup: header.setup,
    warnings,
    recommended: recommendations(measuredLimits(record), folder),
  };
}

/** What a ladder says about how long a prompt may be, here. */
export function measuredLimits(record: LadderRecord): MeasuredLimits {
  const { header } = record;
  const outcome = judgeLadder(record);
  const curve = ladderCurve(outcome, { model: header.setup["model"] ?? "", build: "", flags: "" });
  const tried = outcome.rungs.some((rung) => rung.purpose !== "base" && rung.recall !== undefined);
  const { verifiedTokens, sufficientTokens } = recallWindow(outcome, record);
  const recalled = sufficientTokens ?? (tried || baseVerdict(record) === "weak" ? 0 : undefined);
  return {
    maxContext: header.nCtxPerSlot,
    ...(curve !== undefined && { curve }),
    ...(recalled !== undefined && { recalledTokens: recalled }),
    ...(verifiedTokens !== undefined && { verifiedTokens }),
  };
}
