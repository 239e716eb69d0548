import { foreignUseTexts } from "../../monitor/foreignUse";
import { eventText } from "../../monitor/interference";
import { bytes, count, percent, say, seconds, tokensPerSecond } from "../../text";
import type { Text } from "../../text";
import { mustStayFree } from "./feasibility";
import { targetOf } from "../plan/plan";
import type { LadderRecord, LadderStep, SystemFailureKind } from "./record";
import { peaksOf, rungResults, type RungResult } from "./results";
import type { InvalidReason } from "./scoring";
import { smallest } from "../../lists";

export type CriterionName =
  | "runs"
  | "recallPerRun"
  | "recallPooled"
  | "constraints"
  | "prefill"
  | "generation"
  | "memory"
  | "monitor"
  | "confirmation";

export interface CriterionResult {
  readonly name: CriterionName;
  /** null: it could not be measured, or is only stated. Such a criterion passes nothing and fails nothing. */
  readonly passed: boolean | null;
  readonly sentence: Text;
}

export interface LadderOutcome {
  readonly pass: boolean;
  /** All runs of the plan are there. */
  readonly complete: boolean;
  readonly results: readonly CriterionResult[];
  readonly rungs: readonly RungResult[];
}

/** Holds the record against the criteria that were declared before it began. */
export function judgeLadder(record: LadderRecord): LadderOutcome {
  const { plan } = record.header;
  const rungs = rungResults(record);
  const target = rungs.find((rung) => rung.tokens === targetOf(plan));
  const runs = (target?.steps ?? []).filter((step) => step.purpose === "target");
  const scored = runs.filter(isScored);
  const results = [
    completeRuns(runs, plan.repetitions),
    ...(scored.length === 0 ? [] : recall(scored, record)),
    ...(plan.criteria.constraints > 0 && scored.length > 0 ? [constraints(scored, record)] : []),
    ...speed(target, record),
    memory(target?.steps ?? [], record),
    monitor(runs, record),
    ...(plan.repetitions === 1 ? [confirmation(target)] : readCold(scored)),
  ];
  const complete = scored.length === plan.repetitions;
  const pass = complete && results.every((result) => result.passed ?? mayBeUnseen.has(result.name));
  return { complete, results, rungs, pass };
}

/** What many machines cannot tell is stated beside a pass; whatever else was declared must have been measured. */
const mayBeUnseen: ReadonlySet<CriterionName> = new Set(["memory", "monitor"]);

const isScored = (step: LadderStep): boolean =>
  step.failure === undefined && step.invalid === undefined && step.canaries !== undefined;

const correctOf = (step: LadderStep): number =>
  (step.canaries ?? []).filter((canary) => canary.outcome === "correct").length;

function completeRuns(runs: readonly LadderStep[], wanted: number): CriterionResult {
  const done = runs.filter(isScored).length;
  const failure = runs.find((step) => step.failure !== undefined)?.failure;
  const invalid = runs.find((step) => step.invalid !== undefined)?.invalid;
  return {
    name: "runs",
    passed: done === wanted,
    sentence:
      failure !== undefined
        ? say`${count(done)} of ${count(wanted)} run[s] at the target length: ${failureText(failure.kind)}`
        : invalid !== undefined
          ? say`${count(done)} of ${count(wanted)} run[s] at the target length can be scored: ${invalidText(invalid)}`
          : say`${count(done)} of ${count(wanted)} run[s] at the target length [is|are] complete.`,
  };
}

function recall(runs: readonly LadderStep[], { header: { plan } }: LadderRecord): readonly CriterionResult[] {
  const correct = runs.map(correctOf);
  const asked = runs.reduce((sum, step) => sum + (step.canaries?.length ?? 0), 0);
  const worst = smallest(correct);
  const pooled = correct.reduce((sum, k) => sum + k, 0);
  const whole = runs.length === plan.repetitions;
  const missing = (plan.repetitions - runs.length) * plan.canaries.target;
  return [
    {
      name: "recallPerRun",
      passed: worst >= plan.criteria.perRun,
      sentence: say`The worst run recalled ${count(worst)} of ${count(plan.canaries.target)} canar[y|ies]; ${count(plan.criteria.perRun)} are required.`,
    },
    {
      name: "recallPooled",
      // while runs are missing, only what can no longer be reached is decided
      passed: whole ? pooled >= plan.criteria.pooled : pooled + missing < plan.criteria.pooled ? false : null,
      sentence: say`All runs recalled ${count(pooled)} of ${count(asked)} canar[y|ies]; ${count(plan.criteria.pooled)} are required.`,
    },
  ];
}

function constraints(runs: readonly LadderStep[], { header: { plan } }: LadderRecord): CriterionResult {
  const answered = runs.filter((step) => step.constraintInvalid === undefined);
  const kept = answered.map((step) => (step.constraints ?? []).filter((c) => c.kept).length);
  const worst = smallest(kept);
  const reason = runs.find((step) => step.constraintInvalid !== undefined)?.constraintInvalid;
  if (reason !== undefined && worst >= plan.criteria.constraints) {
    return {
      name: "constraints",
      passed: null,
      sentence: say`The code of ${count(runs.length - answered.length)} of ${count(runs.length)} run[s] cannot be evaluated: ${invalidText(reason)}`,
    };
  }
  return {
    name: "constraints",
    passed: worst >= plan.criteria.constraints,
    sentence: say`The worst run kept ${count(worst)} of 3 coding constraints; ${count(plan.criteria.constraints)} are required.`,
  };
}

function speed(
  target: RungResult | undefined,
  { header: { plan } }: LadderRecord,
): readonly CriterionResult[] {
  const { prefillSeconds, generationTokensPerSecond } = plan.criteria;
  const read = target?.prefillSeconds;
  const wrote = target?.generationTokensPerSecond;
  const results: CriterionResult[] = [];
  if (prefillSeconds !== undefined) {
    results.push({
      name: "prefill",
      passed: read === undefined ? null : read <= prefillSeconds,
      sentence:
        read === undefined
          ? say`No cold prefill at the target length was measured.`
          : say`Reading the target length took ${seconds(read)}; the limit is ${seconds(prefillSeconds)}.`,
    });
  }
  if (generationTokensPerSecond !== undefined) {
    results.push({
      name: "generation",
      passed: wrote === undefined ? null : wrote >= generationTokensPerSecond,
      sentence:
        wrote === undefined
          ? say`No generation at the target length was measured.`
          : say`Generation at the target length ran at ${tokensPerSecond(wrote)}; ${tokensPerSecond(generationTokensPerSecond)} is required.`,
    });
  }
  return results;
}

function memory(runs: readonly LadderStep[], record: LadderRecord): CriterionResult {
  const { plan } = record.header;
  const all = peaksOf(runs);
  const tight = all.find((device) => device.leastFreeBytes < mustStayFree(plan, device.totalBytes));
  const least = all.toSorted((p, q) => p.leastFreeBytes - q.leastFreeBytes)[0];
  if (least === undefined) {
    return { name: "memory", passed: null, sentence: say`Free memory was not recorded during the runs.` };
  }
  const shown = tight ?? least;
  return {
    name: "memory",
    passed: tight === undefined,
    sentence: say`At peak use, ${shown.name} had ${bytes(shown.leastFreeBytes)} free; ${bytes(mustStayFree(plan, shown.totalBytes))} must remain free.`,
  };
}

function monitor(runs: readonly LadderStep[], { header: { plan } }: LadderRecord): CriterionResult {
  const reports = runs.flatMap((step) => (step.monitor === undefined ? [] : [step.monitor]));
  const event = reports.flatMap((report) => report.events)[0];
  const clean = runs.length > 0 && runs.every((step) => step.monitor?.verdict === "clean");
  const needed = plan.criteria.monitor === "clean";
  const [use] = reports.flatMap(foreignUseTexts);
  return {
    name: "monitor",
    // what is only stated can spoil a pass as little as what nobody could see
    passed: clean ? true : needed ? false : null,
    sentence: clean
      ? use === undefined
        ? say`The machine was quiet during the runs at the target.`
        : say`The machine was quiet during the runs at the target. ${use}`
      : event !== undefined
        ? say`The machine was disturbed: ${eventText(event)}.`
        : say`The machine was not monitored, so other programs may have been running.`,
  };
}

function confirmation(target: RungResult | undefined): CriterionResult {
  const step = target?.steps.find(({ purpose }) => purpose === "confirmation");
  const passed = step === undefined ? false : step.failure === undefined && step.invalid === undefined;
  return {
    name: "confirmation",
    passed,
    sentence: passed
      ? say`The target length was also read cold.`
      : step === undefined
        ? say`The target length has not been read cold yet.`
        : say`Reading the target length cold failed, although growing into it had worked.`,
  };
}

/** A server that answers out of its cache, whatever it is asked, never read the target from the start. */
function readCold(scored: readonly LadderStep[]): readonly CriterionResult[] {
  return scored.length === 0 || scored.some(({ mode }) => mode === "cold")
    ? []
    : [{ name: "confirmation", passed: null, sentence: say`The target length has not been read cold yet.` }];
}

export function failureText(kind: SystemFailureKind): Text {
  switch (kind) {
    case "serverDied":
      return say`the server crashed or closed the connection.`;
    case "contextTooSmall":
      return say`the server rejected the prompt as too long.`;
    case "outOfMemory":
      return say`the server ran out of memory.`;
    case "serverError":
      return say`the server reported an error.`;
    case "timeLimit":
      return say`the plan's time limit was reached.`;
    case "busy":
      return say`the server was busy with another request.`;
  }
}

export function invalidText(reason: InvalidReason): Text {
  switch (reason) {
    case "promptTruncated":
      return say`the server did not evaluate all tokens that were sent.`;
    case "empty":
      return say`the answer was empty.`;
    case "reasoningBudget":
      return say`the model was still thinking when its token limit was reached.`;
    case "answerCut":
      return say`the answer was cut off at its token limit.`;
  }
}

/** Recall as a share in words, with its interval. */
export const recallText = (rung: RungResult): Text =>
  rung.recall === undefined
    ? say`no recall measured`
    : say`${percent(100 * (rung.recall.correct / rung.recall.of))} (${count(rung.recall.correct)} of ${count(rung.recall.of)}, 95 % interval ${percent(100 * rung.recall.low)} to ${percent(100 * rung.recall.high)})`;
