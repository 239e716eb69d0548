import type { ServerFacts } from "../../acceptance/serverFacts";
import type { DepthCurve } from "../../prefill/depthCurve";
import { predict } from "../../prefill/predict";
import { count, say, seconds } from "../../text";
import type { Text } from "../../text";
import { UserError } from "../../userError";
import { canariesAt, targetOf, tokensPerCanary, type LadderPlan } from "../plan/plan";
import { plannedSteps, type PlannedStep } from "./steps";

export interface SecondsBand {
  readonly low: number;
  readonly likely: number;
  readonly high: number;
}

/** What a ladder will cost, said before it starts. */
export interface LadderCost {
  /** Tokens the server must read, where the rungs grow on each other. */
  readonly promptTokens: number;
  /** Tokens where every rung must be read from the start (hybrid models, sliding windows). */
  readonly coldPromptTokens: number;
  readonly answerTokens: number;
  readonly steps: number;
  /** Where a curve of this server exists. */
  readonly seconds?: SecondsBand;
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
      ? say`Rung ${count(tooLong)} with ${count(plan.answerTokens)} token[s] for the answer does not fit: one request may hold ${count(facts.nCtxPerSlot)} token[s], and the server has ${count(facts.totalSlots)} slot[s].`
      : say`Rung ${count(tooLong)} with ${count(plan.answerTokens)} token[s] for the answer does not fit: one request may hold ${count(facts.nCtxPerSlot)} token[s].`,
    divided
      ? say`Start llama-server with -c ${String(tooLong + plan.answerTokens)} -np 1 (several slots may share or divide -c), or remove the rungs above ${count(Math.max(0, room))} from the plan.`
      : largest === undefined
        ? say`Start llama-server with -c ${String(tooLong + plan.answerTokens)} or more.`
        : say`Start llama-server with -c ${String(tooLong + plan.answerTokens)} or more, or end the plan at ${count(largest)}.`,
  );
}

/** What one run reads and writes: `cached` tokens are there already where the rungs grow on each other. */
export interface StepCost {
  readonly step: PlannedStep;
  readonly cached: number;
  readonly tokens: number;
  readonly answerTokens: number;
}

export function stepCosts(plan: LadderPlan): readonly StepCost[] {
  const constraintTokens = plan.constraints ? 150 : 0;
  let before = 0;
  return plannedSteps(plan).map((step) => {
    const grows = step.run === 1 && step.purpose !== "base" && step.purpose !== "confirmation";
    const cached = grows ? before : 0;
    const asked = canariesAt(plan, step.tokens);
    const lines = plan.canaries.question === "line";
    // of a line only the value is written
    const question = tokensPerCanary.question * (lines ? 1 : asked);
    const answer = lines ? (tokensPerCanary.question * asked) / 2 : question;
    before = step.tokens - question;
    const again = lines ? question * asked : 0;
    return { step, cached, tokens: step.tokens - cached + again, answerTokens: answer + constraintTokens };
  });
}

/** Seconds of these runs by a curve; undefined where it does not reach so far. */
export function secondsOf(costs: readonly StepCost[], curve: DepthCurve): SecondsBand | undefined {
  let sum = { low: 0, likely: 0, high: 0 };
  for (const { cached, tokens, answerTokens } of costs) {
    const prediction = predict(curve, { tokens, cached });
    if (!prediction.known) return undefined;
    const speed = prediction.generationTokensPerSecond;
    const answering = speed === undefined ? 0 : answerTokens / speed;
    sum = {
      low: sum.low + prediction.lowSeconds + answering,
      likely: sum.likely + prediction.seconds + answering,
      high: sum.high + prediction.highSeconds + answering,
    };
  }
  return sum;
}

/** Counts what will be read; with a curve also how long it takes, with a band. */
export function costOf(plan: LadderPlan, curve: DepthCurve | undefined): LadderCost {
  const costs = stepCosts(plan);
  const sum = (of: (cost: StepCost) => number): number => costs.reduce((total, cost) => total + of(cost), 0);
  const promptTokens = sum(({ tokens }) => tokens + (plan.constraints ? 150 : 0));
  const coldPromptTokens = sum(({ cached, tokens }) => cached + tokens);
  const time = curve === undefined ? undefined : secondsOf(costs, curve);
  return {
    promptTokens,
    coldPromptTokens,
    answerTokens: sum(({ answerTokens }) => answerTokens),
    steps: costs.length,
    ...(time !== undefined && { seconds: time }),
    sentence:
      time === undefined
        ? say`${count(costs.length)} run[s] up to ${count(targetOf(plan))} token[s]: ${count(promptTokens)} token[s] to read (${count(coldPromptTokens)} if the cache cannot be reused). The time is unknown without a depth curve.`
        : say`${count(costs.length)} run[s] up to ${count(targetOf(plan))} token[s]: ${count(promptTokens)} token[s] to read, about ${seconds(time.likely)} (${seconds(time.low)} to ${seconds(time.high)}).`,
  };
}

/** The part of a device that must stay free. */
export function mustStayFree(plan: LadderPlan, totalBytes: number | undefined): number {
  const { memoryMarginBytes, memoryMarginPercent } = plan.criteria;
  return Math.max(memoryMarginBytes, ((totalBytes ?? 0) * memoryMarginPercent) / 100);
}
