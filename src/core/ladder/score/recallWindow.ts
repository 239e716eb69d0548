import { count, say, type Text } from "../../text";
import { isRepeated, targetOf, type LadderPlan } from "../plan/plan";
import type { LadderOutcome } from "./judgeLadder";
import type { LadderRecord, LadderStep } from "./record";
import type { RungResult } from "./results";
import { proportion } from "./statistics";

/** NoLiMa (arXiv:2502.05167): a length is effective while recall stays above this part of the base score. */
export const effectiveShare = 0.85;
/** One-sided: what is called certain is wrong once in twenty ladders. */
const certainly = 0.05;

/** How far recall reaches, and how surely. Lengths in tokens of the whole prompt. */
export interface RecallWindow {
  /** Longest length that met the declared recall in all the runs it was declared with; nothing shorter failed. */
  readonly verifiedTokens?: number;
  /** Longest length below which every rung recalled enough, also where it was run only once. */
  readonly sufficientTokens?: number;
  /** Longest length at which recall is enough with 95 % certainty. */
  readonly certainTokens?: number;
  /** Shortest length at which recall is too little with 95 % certainty. */
  readonly shortTokens?: number;
  readonly sentence?: Text;
}

/** Recall that a length needs where nothing was forgotten at the base: never more than what the plan declares. */
const neededOf = ({ criteria, canaries }: LadderPlan): number =>
  Math.min(effectiveShare, criteria.perRun / canaries.target);

const correctOf = (step: LadderStep): number =>
  (step.canaries ?? []).filter(({ outcome }) => outcome === "correct").length;

const baseSteps = ({ steps }: LadderRecord): readonly LadderStep[] =>
  steps.filter(({ purpose, failure }) => purpose === "base" && failure === undefined);

/**
 * Why no length can be judged, known before the first rung: `unanswered`, where the model gave no answer that can be
 * scored to a short prompt; `weak`, where it surely recalls too little of one. A longer prompt then tells its wit.
 */
export function baseVerdict(record: LadderRecord): "weak" | "unanswered" | undefined {
  if (!asksRecall(record.header.plan)) return undefined;
  const steps = baseSteps(record);
  const scored = steps.filter(({ invalid, canaries }) => invalid === undefined && canaries !== undefined);
  if (scored.length === 0) return steps.length === 0 ? undefined : "unanswered";
  const of = scored.reduce((sum, { canaries }) => sum + (canaries?.length ?? 0), 0);
  const correct = scored.reduce((sum, step) => sum + correctOf(step), 0);
  return proportion(correct, of, certainly).high < neededOf(record.header.plan) ? "weak" : undefined;
}

/** Whether the ladder ends before its first rung: what follows would take hours and could not be judged. */
export const endsAtBase = (record: LadderRecord): boolean =>
  baseVerdict(record) !== undefined && record.steps.every(({ purpose }) => purpose === "base");

/** Whether the base score is too low for a length to be blamed, certain or not. */
export function isWeakAtBase(base: RungResult | undefined, plan: LadderPlan): boolean {
  if (base?.recall === undefined) return false;
  return base.recall.correct < neededOf(plan) * base.recall.of;
}

/** How far recall reaches. A model that is too weak for this kind of question has no window at any length. */
export function recallWindow(outcome: LadderOutcome, record: LadderRecord): RecallWindow {
  const { plan } = record.header;
  const target = targetOf(plan);
  const base = outcome.rungs.find(({ purpose }) => purpose === "base");
  if (outcome.pass && asksRecall(plan)) {
    return { verifiedTokens: target, sufficientTokens: target, certainTokens: target };
  }
  if (base?.recall === undefined || base.recall.correct === 0 || isWeakAtBase(base, plan)) return {};
  const needed = effectiveShare * (base.recall.correct / base.recall.of);
  let sufficient: number | undefined;
  let verified: number | undefined;
  let certain: number | undefined;
  let short: number | undefined;
  let holds = true;
  for (const rung of outcome.rungs) {
    if (rung.purpose === "base") continue;
    const { recall, failed, tokens } = rung;
    if (failed || recall === undefined) break;
    const { low, high } = proportion(recall.correct, recall.of, certainly);
    if (short === undefined && high < needed) short = tokens;
    if (short === undefined && low >= needed) certain = tokens;
    holds &&= recall.correct / recall.of >= needed && tokens !== target;
    if (!holds) continue;
    sufficient = tokens;
    if (meetsCriteria(rung, plan)) verified = tokens;
  }
  const sentence = sentenceOf(certain, short);
  return {
    ...(verified !== undefined && { verifiedTokens: verified }),
    ...(sufficient !== undefined && { sufficientTokens: sufficient }),
    ...(certain !== undefined && { certainTokens: certain }),
    ...(short !== undefined && { shortTokens: short }),
    ...(sentence !== undefined && { sentence }),
  };
}

const asksRecall = ({ criteria }: LadderPlan): boolean => criteria.perRun > 0 || criteria.pooled > 0;

/** A repeated length in all its runs, by the criteria of the target. */
function meetsCriteria({ tokens, steps, validRuns, recall }: RungResult, plan: LadderPlan): boolean {
  const { criteria, repetitions } = plan;
  return (
    asksRecall(plan) &&
    isRepeated(plan, tokens) &&
    validRuns === repetitions &&
    (recall?.correct ?? 0) >= criteria.pooled &&
    steps.every((step) => correctOf(step) >= criteria.perRun)
  );
}

/** What another run of the same plan will agree with, in 19 of 20 cases. */
function sentenceOf(certain: number | undefined, short: number | undefined): Text | undefined {
  if (short === undefined) {
    return certain === undefined
      ? undefined
      : say`With 95 % certainty, recall is sufficient at ${count(certain)} token[s]; for longer prompts this ladder does not decide.`;
  }
  return certain === undefined
    ? say`With 95 % certainty, recall is not sufficient at ${count(short)} token[s]; which shorter length suffices is not certain: list the ones that matter under repeated.`
    : say`With 95 % certainty, recall is sufficient at ${count(certain)} and not at ${count(short)} token[s].`;
}
