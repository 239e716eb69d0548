import { causes } from "../../causes/causes";
import { longerAnswer, type EasierKind } from "../../causes/remedies";
import { shownBy, type CauseText, type ChangingCause, type Variable } from "../../causes/cause";
import { bytes, count, say } from "../../text";
import type { Text } from "../../text";
import { failureText, invalidText, type LadderOutcome } from "../score/judgeLadder";
import { targetOf, type LadderPlan } from "../plan/plan";
import type { DevicePeak, LadderRecord, LadderStep } from "../score/record";
import {
  baseVerdict,
  endsAtBase,
  isWeakAtBase,
  recallWindow,
  type RecallWindow,
} from "../score/recallWindow";
import type { RungResult } from "../score/results";

export type OutcomeKind =
  | "passed"
  | "outOfMemoryFromLoad"
  | "outOfMemoryWithLength"
  | "oneDeviceFull"
  | "outOfMemory"
  | "sameTokenCount"
  | "contextTooSmall"
  | "serverFailed"
  | "tooSlow"
  | "tightMemory"
  | "weakAtAnyLength"
  | "formatOnly"
  | "forgets"
  | "constraintsLost"
  | "flaky"
  | "invalid"
  | "disturbed"
  | "unmeasured"
  | "nothingAsked"
  | "timeLimit"
  | "busy"
  | "incomplete";

/** Outcomes without a cause: there is nothing to mend, or no end yet. */
type WithoutCause = "passed" | "nothingAsked" | "incomplete" | "unmeasured";

interface Step {
  readonly change: Variable;
  readonly actions: readonly Text[];
  /** Longest length that passed in quality, where that helps. */
  readonly verifiedTokens?: number;
}

export type NextStep =
  | (Step & { readonly outcome: WithoutCause; readonly sentence: Text })
  | (Step & { readonly outcome: Exclude<OutcomeKind, WithoutCause>; readonly sentence: CauseText });

const nearlyFull = 0.03;

/**
 * What to do after a ladder, as the outcome decides it. `earlier` are records of the same machine: failures that come
 * back at the same token count show there.
 */
export function nextStep(
  record: LadderRecord,
  outcome: LadderOutcome,
  earlier: readonly LadderRecord[] = [],
): NextStep {
  const failed = record.steps.findLast((step) => step.failure !== undefined);
  const stillFailed = failed !== undefined && record.steps.at(-1) === failed;
  const window = recallWindow(outcome, record);
  const verified = window.sufficientTokens;
  const withVerified = verified !== undefined && { verifiedTokens: verified };
  if (stillFailed) return { ...afterFailure(record, failed, earlier), ...withVerified };
  if (outcome.pass) return passed(record, outcome);
  return { ...afterRuns(record, outcome, window), ...withVerified };
}

function passed({ header: { plan } }: LadderRecord, { results }: LadderOutcome): NextStep {
  const target = targetOf(plan);
  if (plan.criteria.perRun === 0 && plan.criteria.pooled === 0) {
    return {
      outcome: "nothingAsked",
      change: "plan",
      sentence: say`The server read ${count(target)} token[s] in ${count(plan.repetitions)} of ${count(plan.repetitions)} run[s]. The plan requires no recall, so this is not a verified window.`,
      actions: [say`Declare perRun and pooled in a new plan.`],
    };
  }
  return {
    outcome: "passed",
    change: "nothing",
    sentence: say`This model, backend, cache and hardware passed ${count(target)} token[s] in ${count(plan.repetitions)} of ${count(plan.repetitions)} run[s]. This is a verified window.`,
    actions: [
      ...results.filter((result) => result.passed === null).map((result) => result.sentence),
      say`Keep the record as the baseline, and -c ${String(target + plan.answerTokens)} or more as the context.`,
      say`Repeat it after every change of build, driver, model file or options.`,
    ],
    verifiedTokens: target,
  };
}

function afterFailure(record: LadderRecord, step: LadderStep, earlier: readonly LadderRecord[]): NextStep {
  const failure = step.failure ?? { kind: "serverError" as const, message: "" };
  const at = failure.atTokens ?? step.tokens;
  switch (failure.kind) {
    case "busy":
      return found("busy", causes.otherClient(step.tokens));
    case "timeLimit":
      return found("timeLimit", causes.timeLimit(step.tokens));
    case "contextTooSmall":
      return found(
        "contextTooSmall",
        causes.contextTooSmall(),
        say`The server rejected ${count(step.tokens)} token[s]: ${failure.message}`,
      );
    case "outOfMemory":
      return outOfMemory(record, step);
    case "serverDied":
    case "serverError": {
      const same = sameCount(record, at, earlier);
      return same
        ? found("sameTokenCount", causes.cacheOrBackend(), say`It failed near ${count(at)} token[s] again.`)
        : found("serverFailed", causes.serverFailed(step.tokens, failureText(failure.kind)));
    }
  }
}

/** Which device is full, and whether the cache filled it or the weights did. */
function outOfMemory(record: LadderRecord, step: LadderStep): NextStep {
  const before = record.steps.filter((s) => s.failure === undefined);
  const devices = (step.memory ?? before.at(-1)?.memory)?.devices ?? [];
  const full = devices.filter(isFull);
  const roomy = devices.filter((device) => device.leastFreeBytes / (device.totalBytes ?? Infinity) > 0.25);
  const [name] = full.map((device) => device.name);
  if (full.length > 0 && roomy.length > 0) {
    const free = bytes(roomy[0]?.leastFreeBytes ?? 0);
    return found(
      "oneDeviceFull",
      causes.oneDeviceFull(),
      say`${name ?? ""} is full while ${roomy.map((d) => d.name).join(", ")} still has ${free} free.`,
    );
  }
  const first = before.find((s) => (s.memory?.devices.length ?? 0) > 0)?.memory?.devices ?? [];
  const start = first.find((device) => device.name === name) ?? first[0];
  if (start !== undefined && isFull(start)) {
    return found(
      "outOfMemoryFromLoad",
      causes.weightsFill(),
      say`${start.name}: ${bytes(start.leastFreeBytes)} was free at the first rung.`,
    );
  }
  if (start !== undefined) {
    return found(
      "outOfMemoryWithLength",
      causes.cacheFills(),
      say`${start.name}: ${bytes(start.leastFreeBytes)} was free at the first rung.`,
    );
  }
  return found("outOfMemory", causes.outOfMemoryAtLength(step.tokens));
}

/** What the catalogue says about a cause, and what shows that it is this one. */
const found = (
  outcome: Exclude<OutcomeKind, WithoutCause>,
  cause: ChangingCause,
  evidence?: Text,
): NextStep => ({
  outcome,
  change: cause.change,
  sentence: shownBy(cause, evidence),
  actions: cause.remedies,
});

const isFull = (device: DevicePeak): boolean =>
  device.leastFreeBytes < Math.max(512 * 2 ** 20, nearlyFull * (device.totalBytes ?? 0));

function sameCount(record: LadderRecord, at: number, earlier: readonly LadderRecord[]): boolean {
  const steps = [...earlier.flatMap((r) => r.steps), ...record.steps.slice(0, -1)];
  return steps.some(
    ({ failure, tokens }) =>
      failure !== undefined &&
      (failure.kind === "serverDied" || failure.kind === "serverError") &&
      Math.abs((failure.atTokens ?? tokens) / at - 1) <= 0.03,
  );
}

function afterRuns(record: LadderRecord, outcome: LadderOutcome, window: RecallWindow): NextStep {
  const { plan } = record.header;
  const target = outcome.rungs.find((rung) => rung.tokens === targetOf(plan));
  const base = outcome.rungs.find((rung) => rung.purpose === "base");
  const early = endsAtBase(record) ? baseVerdict(record) : undefined;
  if (early === "weak" && base !== undefined) return weak(base, plan);
  if (early === "unanswered" && base !== undefined) return unanswered(base, plan);
  const failing = new Set(outcome.results.filter(({ passed }) => passed === false).map(({ name }) => name));
  const invalid = target?.steps.find((step) => step.invalid !== undefined)?.invalid;
  if (invalid !== undefined) return found("invalid", causes.notJudged(invalid, invalidText(invalid)));
  if (target === undefined || !outcome.complete) {
    return {
      outcome: "incomplete",
      change: "nothing",
      sentence: say`The ladder is not finished.`,
      actions: [say`Run it again with the same plan and folder to resume where it stopped.`],
    };
  }
  const forgets = failing.has("recallPerRun") || failing.has("recallPooled");
  if (forgets) return withCertainty(afterForgetting(record, target, base, window), window);
  if (failing.has("constraints")) return found("constraintsLost", causes.constraintsLost(target.tokens));
  if (failing.has("prefill") || failing.has("generation")) {
    return found("tooSlow", causes.tooSlow(target.tokens, target.prefillSeconds));
  }
  if (failing.has("memory")) return found("tightMemory", causes.tightMemory());
  const unseen = outcome.results.find((result) => result.passed === null && !failing.has("monitor"));
  const cut = target.steps.find((step) => step.constraintInvalid !== undefined);
  if (unseen !== undefined) {
    return {
      outcome: "unmeasured",
      change: "plan",
      sentence: say`What was measured at ${count(target.tokens)} token[s] passed, but the plan requires more.`,
      actions: [
        ...outcome.results
          .filter((result) => result.passed === null && result.name !== "memory" && result.name !== "monitor")
          .map((result) => result.sentence),
        cut === undefined
          ? say`Use llama-server directly, without a proxy that caches prompts or omits timings.`
          : longerAnswer,
      ],
    };
  }
  return found("disturbed", causes.otherLoad());
}

/** What ends a ladder before its first rung: longer prompts would test the model's wit, not the length. */
function weak(base: RungResult, plan: LadderPlan): NextStep {
  const { correct, of } = base.recall ?? { correct: 0, of: 1 };
  const formatOnly =
    correct === 0 && base.twins === 0 && base.steps.every((step) => step.cleanFormat === false);
  return found(
    formatOnly ? "formatOnly" : "weakAtAnyLength",
    causes.modelWeak({ recalled: correct / of, tokens: base.tokens, easier: easierKind(plan) }),
  );
}

function unanswered(base: RungResult, plan: LadderPlan): NextStep {
  const reason = base.steps.find((step) => step.invalid !== undefined)?.invalid ?? "empty";
  return found("invalid", causes.baseNotJudged(reason, invalidText(reason), easierKind(plan)));
}

/** One kind of question easier than this plan's, if there is one. */
function easierKind({ canaries }: LadderPlan): EasierKind | undefined {
  if (canaries.question !== "line") return "line";
  return canaries.distractors ? "noTwins" : undefined;
}

const withCertainty = (step: NextStep, { sentence }: RecallWindow): NextStep =>
  sentence === undefined ? step : { ...step, actions: [...step.actions, sentence] };

function afterForgetting(
  record: LadderRecord,
  target: RungResult,
  base: RungResult | undefined,
  { sufficientTokens: verified }: RecallWindow,
): NextStep {
  const { plan } = record.header;
  const share = (rung: RungResult | undefined): number | undefined =>
    rung?.recall === undefined ? undefined : rung.recall.correct / rung.recall.of;
  if (base !== undefined && isWeakAtBase(base, plan)) return weak(base, plan);
  const correct = target.steps
    .filter((s) => s.purpose === "target")
    .map((s) => (s.canaries ?? []).filter((c) => c.outcome === "correct").length);
  if (correct.some((k) => k >= plan.criteria.perRun) && correct.some((k) => k < plan.criteria.perRun)) {
    return found("flaky", causes.flaky(target.tokens, correct, plan.canaries.target, verified));
  }
  const parts = target.byPosition;
  const rate = (from: number, to: number): number => {
    const here = parts.filter(({ depth }) => depth > from && depth < to);
    return (
      here.reduce((s, p) => s + p.correct, 0) /
      Math.max(
        1,
        here.reduce((s, p) => s + p.of, 0),
      )
    );
  };
  const recalled = share(target) ?? 0;
  const [start, middle, end] = [rate(0, 0.3), rate(0.3, 0.7), rate(0.7, 1)];
  return found(
    "forgets",
    causes.forgetsAtLength({ tokens: target.tokens, recalled, start, middle, end, verified }),
  );
}
