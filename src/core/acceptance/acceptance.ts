import { count, percent, say, type Text } from "../text";
import type { Known } from "../known";
import type { AcceptanceReport, PromptParts } from "./acceptanceReport";
import type { ServerFacts } from "./serverFacts";
import type { SlotContext } from "../launch/slotContext";

/** What one request may hold, and who else may be in the way. */
export interface RequestLimit {
  readonly nCtxPerSlot: number;
  /** No option but YaRN or `--override-kv` makes it larger than that; absent where nobody said. */
  readonly trainingContext?: number;
  /** "reported" by the running server, "computed" from launch options. */
  readonly provenance: "reported" | "computed";
  readonly slots: number;
  /** Whether the slots share one pool of cells; undefined where nobody said. */
  readonly unified?: boolean;
  /** Cells of that pool. */
  readonly poolCells?: number;
  /** Slots at work now. */
  readonly busySlots: number;
  /** Tokens they hold, where the server says so. */
  readonly busyTokens?: number;
  readonly sleeping: boolean;
  /** `-fit` may still reduce a computed context at load. */
  readonly fitMayReduce: boolean;
}

export interface AcceptanceInput {
  readonly parts: PromptParts;
  /** Relative half-width of an estimated count; absent where the count is exact. */
  readonly relativeError?: number;
  readonly limit: Known<RequestLimit>;
  /** Tokens the user wants kept for the answer. */
  readonly answerReserve: number;
}

/** The limit a running server reports; `launch` (its options, if known) tells whether the slots share a pool. */
export function limitOfServer(facts: ServerFacts, launch?: SlotContext): RequestLimit {
  const busy = (facts.slots ?? []).filter((slot) => slot.busy);
  const told = busy.every((slot) => slot.tokens !== undefined);
  return {
    nCtxPerSlot: facts.nCtxPerSlot,
    ...(facts.model.nCtxTrain !== undefined && { trainingContext: facts.model.nCtxTrain }),
    provenance: "reported",
    slots: facts.totalSlots,
    ...(launch && { unified: launch.unified, poolCells: launch.nCtxSeq }),
    busySlots: busy.length,
    ...(told && { busyTokens: busy.reduce((sum, slot) => sum + (slot.tokens ?? 0), 0) }),
    sleeping: facts.sleeping,
    fitMayReduce: false,
  };
}

/** The limit a server with these options would have. */
export function limitOfLaunch(context: SlotContext): RequestLimit {
  return {
    nCtxPerSlot: context.nCtxPerSlot,
    trainingContext: context.trainingContext,
    provenance: "computed",
    slots: context.slots,
    unified: context.unified,
    poolCells: context.nCtxSeq,
    busySlots: 0,
    sleeping: false,
    fitMayReduce: context.fitMayReduce,
  };
}

/**
 * llama-server's own rule for a generation request (`tools/server/server-context.cpp`, a slot that starts its prompt):
 * it is refused iff the prompt has at least as many tokens as the slot's `n_ctx`. What is cached already counts too;
 * room for the answer is not part of the rule.
 */
export const isAccepted = (promptTokens: number, nCtxPerSlot: number): boolean => promptTokens < nCtxPerSlot;

export function acceptance(input: AcceptanceInput): AcceptanceReport {
  const { parts, limit, answerReserve } = input;
  const promptTokens = parts.files + parts.packing + parts.template;
  const { relativeError } = input;
  const exact = relativeError === undefined;
  const common = { promptTokens, exact, ...(!exact && { relativeError }), parts, answerReserve };
  if (!limit.known) {
    return { ...common, accepted: null, nCtxPerSlot: null, answerRoom: null, reasons: [limit.why] };
  }
  const { nCtxPerSlot } = limit.value;
  const accepted = verdict(promptTokens, input.relativeError ?? 0, nCtxPerSlot);
  const answerRoom = Math.max(0, nCtxPerSlot - promptTokens);
  const reasons = [
    ruleReason(accepted, promptTokens, nCtxPerSlot, input.relativeError),
    ...(accepted === true ? roomReasons(answerRoom, answerReserve) : []),
    ...(accepted === false ? [] : poolReasons(promptTokens, answerReserve, limit.value)),
    ...serverReasons(limit.value),
  ];
  return { ...common, accepted, nCtxPerSlot, answerRoom, reasons };
}

/** null where the spread of an estimate lies on both sides of the limit. */
function verdict(promptTokens: number, relativeError: number, nCtxPerSlot: number): boolean | null {
  const high = isAccepted(Math.ceil(promptTokens * (1 + relativeError)), nCtxPerSlot);
  const low = isAccepted(Math.floor(promptTokens * (1 - relativeError)), nCtxPerSlot);
  return high === low ? high : null;
}

function ruleReason(
  accepted: boolean | null,
  promptTokens: number,
  nCtxPerSlot: number,
  relativeError: number | undefined,
): Text {
  const limit = count(nCtxPerSlot);
  const prompt = count(promptTokens);
  const spread = percent((relativeError ?? 0) * 100);
  switch (accepted) {
    case true:
      return relativeError === undefined
        ? say`The prompt has ${prompt} token[s]; one request may hold ${limit}.`
        : say`The prompt has about ${prompt} token[s] (±${spread}); one request may hold ${limit}.`;
    case false:
      return relativeError === undefined
        ? say`The prompt has ${prompt} token[s] and llama-server rejects ${limit} or more (n_ctx of a slot).`
        : say`The prompt has about ${prompt} token[s] (±${spread}) and llama-server rejects ${limit} or more (n_ctx of a slot).`;
    case null:
      return say`The prompt has about ${prompt} token[s] (±${spread}): too close to the limit of ${limit} to tell without an exact count.`;
  }
}

function roomReasons(answerRoom: number, answerReserve: number): Text[] {
  if (answerRoom >= answerReserve) return [];
  return [
    say`Only ${count(answerRoom)} token[s] [is|are] left for the answer, less than the ${count(answerReserve)} reserved: the answer would be cut off.`,
  ];
}

/** A unified cache is one pool: a prompt that passes the rule can still fail while other slots hold cells. */
function poolReasons(promptTokens: number, answerReserve: number, limit: RequestLimit): Text[] {
  if (limit.busySlots === 0 || limit.unified === false) return [];
  const busy = count(limit.busySlots);
  const { busyTokens, poolCells } = limit;
  if (limit.unified === undefined || busyTokens === undefined || poolCells === undefined) {
    return [
      say`${busy} other slot[s] [is|are] in use; if the slots share one KV cache (-kvu, or -np not set), their tokens count towards it too.`,
    ];
  }
  if (promptTokens + answerReserve + busyTokens < poolCells) return [];
  return [
    say`${busy} other slot[s] hold[s|] ${count(busyTokens)} token[s] of the ${count(poolCells)} cell[s] all slots share: together with this prompt and its answer the server would run out and abort every running request.`,
  ];
}

function serverReasons(limit: RequestLimit): Text[] {
  const reasons: Text[] = [];
  if (limit.sleeping) {
    reasons.push(
      say`The server is asleep: the next request has to load the model again before it is answered.`,
    );
  }
  if (limit.fitMayReduce) {
    reasons.push(
      say`The context size is not set (-c): llama-server may reduce it while loading if device memory is short.`,
    );
  }
  return reasons;
}
