import type { ServerFacts } from "../acceptance/serverFacts";
import type { DepthCurve } from "../prefill/depthCurve";
import { predict } from "../prefill/predict";
import { count, say, seconds } from "../text";
import type { Text } from "../text";
import { UserError } from "../userError";
import { canariesAt, targetOf, type LadderPlan } from "./plan";
import { tokensPerCanary } from "./parsePlan";
import { plannedSteps } from "./steps";

/** What a ladder will cost, said before it starts. */
export interface LadderCost {
  /** Tokens the server must read, where the rungs grow on each other. */
  readonly promptTokens: number;
  /** Tokens where every rung must be read from the start (hybrid models, sliding windows). */
  readonly coldPromptTokens: number;
  readonly answerTokens: number;
  readonly steps: number;
  /** Where a curve of this server exists. */
  readonly seconds?: { readonly low: number; readonly likely: number; readonly high: number };
  readonly sentence: Text;
}

/** Fails with `invalidInput` where a rung cannot fit this server's context. */
export function checkFits(plan: LadderPlan, facts: ServerFacts): void {
  const room = facts.nCtxPerSlot - plan.answerTokens;
  const tooLong = plan.rungs.find((rung) => rung > room);
  if (tooLong === undefined) return;
  const largest = plan.rungs.filter((rung) => rung <= room).at(-1);
  const divided = facts.totalSlots > 1;
  throw new UserError(
    "invalidInput",
    divided
      ? say`Rung ${count(tooLong)} with ${count(plan.answerTokens)} tokens for the answer does not fit: one request may hold ${count(facts.nCtxPerSlot)} tokens, and the server has ${count(facts.totalSlots)} slots.`
      : say`Rung ${count(tooLong)} with ${count(plan.answerTokens)} tokens for the answer does not fit: one request may hold ${count(facts.nCtxPerSlot)} tokens.`,
    divided
      ? say`Start llama-server with -c ${String(tooLong + plan.answerTokens)} -np 1 (several slots may share or divide -c), or take the rungs above ${count(Math.max(0, room))} out of the plan.`
      : largest === undefined
        ? say`Start llama-server with -c ${String(tooLong + plan.answerTokens)} or more.`
        : say`Start llama-server with -c ${String(tooLong + plan.answerTokens)} or more, or end the plan at ${count(largest)}.`,
  );
}

/** Counts what will be read; with a curve also how long it takes, with a band. */
export function costOf(plan: LadderPlan, curve: DepthCurve | undefined): LadderCost {
  const steps = plannedSteps(plan);
  let promptTokens = 0;
  let coldPromptTokens = 0;
  let answerTokens = 0;
  const spans: { cached: number; tokens: number }[] = [];
  let before = 0;
  for (const { tokens, run, purpose } of steps) {
    const grows = run === 1 && purpose !== "base" && purpose !== "confirmation";
    const cached = grows ? before : 0;
    const asked = canariesAt(plan, tokens);
    const question = tokensPerCanary.question * asked;
    spans.push({ cached, tokens: tokens - cached });
    promptTokens += tokens - cached + (plan.constraints ? 150 : 0);
    coldPromptTokens += tokens;
    answerTokens += tokensPerCanary.question * asked + (plan.constraints ? 150 : 0);
    before = tokens - question;
  }
  const predictions = curve === undefined ? [] : spans.map((span) => predict(curve, span));
  const sum = (of: "seconds" | "lowSeconds" | "highSeconds"): number =>
    predictions.reduce((s, p) => s + (p.known ? p[of] : 0), 0);
  const speed = predictions.findLast((p) => p.known)?.generationTokensPerSecond;
  const answering = speed === undefined ? 0 : answerTokens / speed;
  const time =
    predictions.length > 0 && predictions.every((p) => p.known)
      ? {
          low: sum("lowSeconds") + answering,
          likely: sum("seconds") + answering,
          high: sum("highSeconds") + answering,
        }
      : undefined;
  return {
    promptTokens,
    coldPromptTokens,
    answerTokens,
    steps: steps.length,
    ...(time !== undefined && { seconds: time }),
    sentence:
      time === undefined
        ? say`${count(steps.length)} runs up to ${count(targetOf(plan))} tokens: ${count(promptTokens)} tokens to read (${count(coldPromptTokens)} where the cache cannot be kept). The time is unknown without a depth curve.`
        : say`${count(steps.length)} runs up to ${count(targetOf(plan))} tokens: ${count(promptTokens)} tokens to read, about ${seconds(time.likely)} (${seconds(time.low)} to ${seconds(time.high)}).`,
  };
}

/** The part of a device that must stay free. */
export function marginOf(plan: LadderPlan, totalBytes: number | undefined): number {
  const { memoryMarginBytes, memoryMarginPercent } = plan.criteria;
  return Math.max(memoryMarginBytes, ((totalBytes ?? 0) * memoryMarginPercent) / 100);
}
