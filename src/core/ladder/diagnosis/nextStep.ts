import { adviceOn, causes, type CauseName, type Variable } from "../../causes";
import { bytes, count, percent, say, seconds } from "../../text";
import type { Text } from "../../text";
import { failureText, invalidText, type LadderOutcome } from "../score/judgeLadder";
import { targetOf } from "../plan/plan";
import type { DevicePeak, LadderRecord, LadderStep } from "../score/record";
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

export interface NextStep {
  readonly outcome: OutcomeKind;
  readonly change: Variable;
  readonly sentence: Text;
  readonly actions: readonly Text[];
  /** Longest length that passed in quality, where that helps. */
  readonly verifiedTokens?: number;
}

/** NoLiMa: a length is effective while recall stays above this part of the base score. */
const effectiveShare = 0.85;
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
  const verified = verifiedTokens(outcome, record);
  const withVerified = verified !== undefined && { verifiedTokens: verified };
  if (stillFailed) return { ...afterFailure(record, failed, earlier), ...withVerified };
  if (outcome.pass) return passed(record, outcome);
  return { ...afterRuns(record, outcome, verified), ...withVerified };
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
      return {
        outcome: "busy",
        change: "load",
        sentence: say`Another client used the server before the rung of ${count(step.tokens)} token[s].`,
        actions: [say`Let the other request finish, then run the ladder again; completed runs are kept.`],
      };
    case "timeLimit":
      return {
        outcome: "timeLimit",
        change: "length",
        sentence: say`The rung of ${count(step.tokens)} token[s] took longer than the plan allows.`,
        actions: [
          say`Use a smaller target as the daily window, or allow more time in the plan.`,
          say`Try a smaller model, another backend or a different placement, one at a time.`,
        ],
      };
    case "contextTooSmall":
      return found(
        "contextTooSmall",
        "contextTooSmall",
        say`The server rejected ${count(step.tokens)} token[s]: ${failure.message}`,
      );
    case "outOfMemory":
      return outOfMemory(record, step);
    case "serverDied":
    case "serverError": {
      const same = sameCount(record, at, earlier);
      if (same) {
        return found("sameTokenCount", "cacheOrBackend", say`It failed near ${count(at)} token[s] again.`);
      }
      return {
        outcome: "serverFailed",
        change: "nothing",
        sentence: say`At ${count(step.tokens)} token[s], ${failureText(failure.kind)}`,
        actions: [
          say`Check the end of the server's log for the cause.`,
          say`Run the same ladder once more: if it fails at the same token count, the cause is the cache or the backend; if the count changes, it is memory or load.`,
        ],
      };
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
      "oneDeviceFull",
      say`${name ?? ""} is full while ${roomy.map((d) => d.name).join(", ")} still has ${free} free.`,
    );
  }
  const first = before.find((s) => (s.memory?.devices.length ?? 0) > 0)?.memory?.devices ?? [];
  const start = first.find((device) => device.name === name) ?? first[0];
  if (start !== undefined && isFull(start)) {
    return found(
      "outOfMemoryFromLoad",
      "weightsFill",
      say`${start.name}: ${bytes(start.leastFreeBytes)} was free at the first rung.`,
    );
  }
  if (start !== undefined) {
    return found(
      "outOfMemoryWithLength",
      "cacheFills",
      say`${start.name}: ${bytes(start.leastFreeBytes)} was free at the first rung.`,
    );
  }
  return {
    outcome: "outOfMemory",
    change: "nothing",
    sentence: say`The server ran out of memory at ${count(step.tokens)} token[s]; which device was full is unknown.`,
    actions: [
      say`Monitor the free memory of every device from loading on, and repeat.`,
      say`Full right after loading: use smaller weights. Full as the length grows: use a smaller KV cache type.`,
    ],
  };
}

/** What the catalogue says about a cause, and what shows that it is this one. */
function found(outcome: OutcomeKind, cause: CauseName, evidence?: Text): NextStep {
  const { change, sentence } = causes[cause];
  return {
    outcome,
    change,
    sentence: evidence === undefined ? sentence : say`${sentence} ${evidence}`,
    actions: adviceOn(cause),
  };
}

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

function afterRuns(record: LadderRecord, outcome: LadderOutcome, verified: number | undefined): NextStep {
  const { plan } = record.header;
  const target = outcome.rungs.find((rung) => rung.tokens === targetOf(plan));
  const base = outcome.rungs.find((rung) => rung.purpose === "base");
  const failing = new Set(outcome.results.filter(({ passed }) => passed === false).map(({ name }) => name));
  const invalid = target?.steps.find((step) => step.invalid !== undefined)?.invalid;
  if (invalid !== undefined) {
    return {
      outcome: "invalid",
      change: "plan",
      sentence: say`A run at the target length has no recall result: ${invalidText(invalid)}`,
      actions: [
        invalid === "promptTruncated"
          ? say`Turn context shift off and check that nothing else divides or cuts the context.`
          : invalid === "empty"
            ? say`Check whether the chat template of the model file is the right one.`
            : say`Turn thinking off or set a larger answerTokens in a new plan.`,
      ],
    };
  }
  if (target === undefined || !outcome.complete) {
    return {
      outcome: "incomplete",
      change: "nothing",
      sentence: say`The ladder is not finished.`,
      actions: [say`Run it again with the same plan and folder to resume where it stopped.`],
    };
  }
  const forgets = failing.has("recallPerRun") || failing.has("recallPooled");
  if (forgets) return afterForgetting(record, target, base, verified);
  if (failing.has("constraints")) {
    return {
      outcome: "constraintsLost",
      change: "length",
      sentence: say`Facts are recalled, but at ${count(target.tokens)} token[s] the code does not follow the rules given in the prompt.`,
      actions: [say`Repeat rules next to the task, or use a shorter window for code.`],
    };
  }
  if (failing.has("prefill") || failing.has("generation")) {
    return {
      outcome: "tooSlow",
      change: "length",
      sentence:
        target.prefillSeconds === undefined
          ? say`It works at ${count(target.tokens)} token[s], but too slowly. That is a practical limit, not a capacity limit.`
          : say`It works at ${count(target.tokens)} token[s], but reading them takes ${seconds(target.prefillSeconds)}. That is a practical limit, not a capacity limit.`,
      actions: [
        say`Use a smaller window for everyday work, and the long one where it is needed.`,
        say`Try a smaller model, another backend or a better placement, one at a time.`,
      ],
    };
  }
  if (failing.has("memory")) {
    return {
      outcome: "tightMemory",
      change: "kvCache",
      sentence: say`It passed, but with less free memory than the plan requires.`,
      actions: [say`Try a smaller KV cache type or a lower target; leave the rest unchanged.`],
    };
  }
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
          : say`Turn thinking off or set a larger answerTokens in a new plan.`,
      ],
    };
  }
  return found("disturbed", "otherLoad");
}

function afterForgetting(
  record: LadderRecord,
  target: RungResult,
  base: RungResult | undefined,
  verified: number | undefined,
): NextStep {
  const { plan } = record.header;
  const share = (rung: RungResult | undefined): number | undefined =>
    rung?.recall === undefined ? undefined : rung.recall.correct / rung.recall.of;
  const atBase = share(base);
  if (atBase !== undefined && atBase < effectiveShare) {
    const formatOnly = target.steps.every((step) => step.cleanFormat === false) && target.twins === 0;
    return {
      outcome: formatOnly && atBase === 0 ? "formatOnly" : "weakAtAnyLength",
      change: "weights",
      sentence: say`The model recalls only ${percent(100 * atBase)} at ${count(base?.tokens ?? 0)} token[s] already: the cause is not the length.`,
      actions: adviceOn("modelWeak"),
    };
  }
  const correct = target.steps
    .filter((s) => s.purpose === "target")
    .map((s) => (s.canaries ?? []).filter((c) => c.outcome === "correct").length);
  if (correct.some((k) => k >= plan.criteria.perRun) && correct.some((k) => k < plan.criteria.perRun)) {
    return {
      outcome: "flaky",
      change: "load",
      sentence: say`At ${count(target.tokens)} token[s] some runs pass and others do not (${correct.join(", ")} of ${count(plan.canaries.target)}): there is no margin.`,
      actions: [say`Stop all other load and repeat with more repetitions.`, ...lowerTarget(verified)],
    };
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
  const [start, middle, end] = [rate(0, 0.3), rate(0.3, 0.7), rate(0.7, 1)];
  return {
    outcome: "forgets",
    change: "length",
    sentence:
      middle < Math.min(start, end) - 0.15
        ? say`At ${count(target.tokens)} token[s] it completes but forgets, most of all in the middle (${percent(100 * middle)} there, ${percent(100 * Math.min(start, end))} or more at the ends).`
        : start < end - 0.15
          ? say`At ${count(target.tokens)} token[s] it completes but forgets the beginning (${percent(100 * start)} recalled there, ${percent(100 * end)} at the end).`
          : say`At ${count(target.tokens)} token[s] it completes but forgets: ${percent(100 * (share(target) ?? 0))} recalled.`,
    actions: [...lowerTarget(verified), ...adviceOn("modelForgets")],
  };
}

function lowerTarget(verified: number | undefined): readonly Text[] {
  return verified === undefined
    ? [say`No length of this ladder reached the required recall: try shorter rungs.`]
    : [
        say`Use ${count(verified)} token[s] as the working limit: the longest length with sufficient recall. Confirm it with a plan of its own.`,
      ];
}

/** The longest length below which every rung recalled at least 0.85 of the base score, and finished. */
export function verifiedTokens(
  outcome: LadderOutcome,
  { header: { plan } }: LadderRecord,
): number | undefined {
  const base = outcome.rungs.find((rung) => rung.purpose === "base")?.recall;
  if (base === undefined || base.correct === 0) return undefined;
  const needed = (effectiveShare * base.correct) / base.of;
  let verified: number | undefined;
  for (const rung of outcome.rungs) {
    if (rung.purpose === "base") continue;
    if (rung.failed || rung.recall === undefined || rung.recall.correct / rung.recall.of < needed) break;
    if (rung.tokens === targetOf(plan) && !outcome.pass) break;
    verified = rung.tokens;
  }
  return verified;
}
