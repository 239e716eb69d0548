import type { DepthCurve } from "../prefill/depthCurve";
import { generationSecondsPerToken } from "../prefill/generationSpeed";
import { predict } from "../prefill/predict";
import { freeRollBack, reread, type PromptKeeping } from "../prefill/secondQuestion";
import type { Text } from "../text";

/** A conversation that is to be had. Tokens; a turn's question counts everything the client adds, tool results too. */
export interface PlanRequest {
  readonly systemTokens: number;
  readonly turnTokens: number;
  readonly answerTokens: number;
  /** Of each answer, thinking that the client does not send back. */
  readonly thinkingTokens: number;
  readonly turns: number;
  /** `n_ctx` of a slot: a prompt must have fewer tokens. */
  readonly limit: number;
  readonly keeping: PromptKeeping;
  /** A conversation finds its slot as it left it, or a copy of it in host memory. */
  readonly kept: boolean;
  readonly curve?: DepthCurve;
}

export interface PlannedTurn {
  /** From 1. */
  readonly turn: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly readTokens: number;
  readonly accepted: boolean;
  /** Tokens of the answer that still fit. */
  readonly answerTokens: number;
  readonly waitSeconds?: number;
  /** Ends of the 80 % band. */
  readonly lowSeconds?: number;
  readonly highSeconds?: number;
  readonly answerSeconds?: number;
}

export interface ConversationPlan {
  readonly nCtxPerSlot: number;
  readonly turns: readonly PlannedTurn[];
  readonly refusedAtTurn: number | null;
  /** Waits and answers of all turns that are accepted; absent where one of them is not known. */
  readonly totalSeconds?: number;
  /** What it costs if the cache is lost before the last accepted turn. */
  readonly lost?: { readonly turn: number; readonly readTokens: number; readonly extraSeconds?: number };
  /** Why there are no seconds. */
  readonly reason?: Text;
}

/** Fill and wait of each turn, up to the first that is refused (`pre_decode`: tokens of the prompt ≥ `n_ctx` of the slot). */
export function planConversation(request: PlanRequest): ConversationPlan {
  const { systemTokens, turnTokens, answerTokens, thinkingTokens, limit, curve } = request;
  const turns: PlannedTurn[] = [];
  let before: { readonly promptTokens: number; readonly held: number } | undefined;
  let reason: Text | undefined;
  let sentBack = systemTokens;
  for (let turn = 1; turn <= request.turns; turn++) {
    const promptTokens = sentBack + turnTokens;
    const accepted = promptTokens < limit;
    const cachedTokens = before === undefined || !request.kept ? 0 : cachedOf(request, before, promptTokens);
    const readTokens = promptTokens - cachedTokens;
    const answer = accepted ? Math.min(answerTokens, limit - promptTokens) : 0;
    const wait =
      accepted && curve !== undefined
        ? predict(curve, { tokens: readTokens, cached: cachedTokens })
        : undefined;
    if (wait?.known === false) reason ??= wait.reason;
    const perToken = curve && generationSecondsPerToken(curve.generation, promptTokens + answer / 2);
    turns.push({
      ...{ turn, promptTokens, cachedTokens, readTokens, accepted, answerTokens: answer },
      ...(wait?.known === true && {
        waitSeconds: wait.seconds,
        lowSeconds: wait.lowSeconds,
        highSeconds: wait.highSeconds,
      }),
      ...(accepted && perToken !== undefined && { answerSeconds: perToken * answer }),
    });
    if (!accepted) break;
    // the answer's last token is never decoded
    before = { promptTokens, held: promptTokens + Math.max(0, answer - 1) };
    // an answer that was cut by the context is shorter, perhaps by all that would have been sent back
    sentBack = promptTokens + Math.max(0, answer - thinkingTokens);
  }
  const read = turns.filter(({ accepted }) => accepted);
  const total = sum(read.map(({ waitSeconds, answerSeconds }) => sum([waitSeconds, answerSeconds])));
  const lost = lostBefore(read.at(-1), curve);
  return {
    nCtxPerSlot: limit,
    turns,
    refusedAtTurn: turns.find(({ accepted }) => !accepted)?.turn ?? null,
    ...(total !== undefined && { totalSeconds: total }),
    ...(lost !== undefined && { lost }),
    ...(reason !== undefined && { reason }),
  };
}

/**
 * A prompt that goes on where the slot ends finds all of it, whatever the model keeps. One that leaves the thinking out goes
 * back to the end of the prompt before: exactly with plain attention, within the window, or to a checkpoint.
 */
function cachedOf(
  { keeping, thinkingTokens }: PlanRequest,
  before: { readonly promptTokens: number; readonly held: number },
  promptTokens: number,
): number {
  const { memory, ubatch, forgets, reuse = 0 } = keeping;
  if (thinkingTokens === 0) return Math.min(before.held, promptTokens - 1);
  if (forgets) return 0;
  const shared = before.promptTokens;
  // what stands behind the thinking is moved in front of it, if it is long enough (`server-context.cpp`, b11669)
  const behind = before.held - shared - thinkingTokens;
  if (reuse > 0 && behind >= reuse) return shared + behind;
  const again = {
    memory,
    firstPromptTokens: before.promptTokens,
    sharedTokens: shared,
    promptTokens,
    ubatch,
  };
  if (memory.kind !== "slidingWindow") return reread(again).cached;
  if (before.held - shared <= freeRollBack(memory.window, ubatch)) return shared;
  // of a checkpoint of a window the last token is read once more
  return Math.max(0, reread({ ...again, memory: { kind: "recurrent" } }).cached - 1);
}

function lostBefore(turn: PlannedTurn | undefined, curve: DepthCurve | undefined): ConversationPlan["lost"] {
  if (turn === undefined || turn.cachedTokens === 0) return undefined;
  const whole = curve && predict(curve, { tokens: turn.promptTokens });
  const extra =
    whole?.known === true && turn.waitSeconds !== undefined ? whole.seconds - turn.waitSeconds : undefined;
  return {
    turn: turn.turn,
    readTokens: turn.promptTokens,
    ...(extra !== undefined && { extraSeconds: Math.max(0, extra) }),
  };
}

/** Undefined where one of them is. */
function sum(values: readonly (number | undefined)[]): number | undefined {
  let total = 0;
  for (const value of values) {
    if (value === undefined) return undefined;
    total += value;
  }
  return total;
}
