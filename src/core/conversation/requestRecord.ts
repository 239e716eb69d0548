import type { CurvePoint } from "../prefill/depthCurve";

/**
 * How a request ended. `running`: the log ends before it does; `failed`: the server gave up on it; `ended`: the source does not
 * tell how.
 */
export type RequestOutcome = "done" | "cut" | "refused" | "cancelled" | "failed" | "running" | "ended";

/** Why a server read again what it had read before. */
export type RereadKind =
  /** The conversation's slot was busy with another request. */
  | "slotBusy"
  /** Another conversation has taken the slot, and nothing kept a copy. */
  | "slotTaken"
  /** The copy in host memory was removed because `--cache-ram` was full. */
  | "cacheRamFull"
  /** The prompt has so much new text that the slot's share is below `-sps`. */
  | "belowThreshold"
  /** The prompt differs from the conversation before its last answer. */
  | "changedBeginning"
  /** Sliding window or recurrent state: only checkpoints can be gone back to. */
  | "behindCheckpoint"
  /** The checkpoint that would have helped was erased: `-ctxcp`. */
  | "checkpointErased"
  /** The context was shifted during an answer, so that the slot no longer begins as the prompt does. */
  | "contextShift"
  /** The request said `cache_prompt: false`, or the server `--no-cache-prompt`. */
  | "cachePromptOff"
  /** The slot's content matched and was not used: `cachePromptOff` or `behindCheckpoint`; the log does not say which. */
  | "cacheNotUsed";

export interface Reread {
  readonly kind: RereadKind;
  /** Tokens of the prompt that had been read before. */
  readonly tokens: number;
  /** Which part of the time of this prefill they took; undefined where it was not measured. */
  readonly seconds?: number;
  /**
   * reported: the server's own lines and figures say so. assumed: the request is taken for the next turn of an earlier
   * conversation, because its length continues that one.
   */
  readonly provenance: "reported" | "assumed";
  /** Number of the request before it in the conversation. */
  readonly after?: number;
}

/** One request of a log. What the log does not say is absent, never zero. Times in seconds since the server's start. */
export interface RequestRecord {
  /** From 1, in the order in which they ended. */
  readonly number: number;
  /** Which program of a shared log: container, unit or router child. */
  readonly source?: string;
  /** From 1: which start of that server. */
  readonly start: number;
  readonly slot: number;
  readonly task: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Requests of one conversation have the same number. */
  readonly conversation: number;
  /** Tokens one request may hold: it must have fewer. */
  readonly limit?: number;
  readonly promptTokens?: number;
  /** Of those, in the cache. */
  readonly cachedTokens?: number;
  /** Of those, read: again or new. */
  readonly readTokens?: number;
  readonly againTokens?: number;
  readonly newTokens?: number;
  readonly prefillSeconds?: number;
  readonly generatedTokens?: number;
  readonly generationSeconds?: number;
  /** Tokens the slot holds afterwards. */
  readonly fillTokens?: number;
  readonly outcome: RequestOutcome;
  readonly reread?: Reread;
  /** Other slots worked while it was read, or while it was answered: its speed says nothing about a server alone. */
  readonly disturbed?: { readonly prefill: boolean; readonly generation: boolean };
  /** Its progress lines, as spans of a depth curve. */
  readonly spans?: readonly CurvePoint[];
}

/** A request the log ends in. */
export interface RunningRequest {
  readonly source?: string;
  readonly slot: number;
  readonly task: number;
  readonly startedAt?: number;
  readonly limit?: number;
  readonly stage: "reading" | "answering";
  /** Tokens of the prompt: its two ends as far as the lines so far tell. */
  readonly promptTokens?: { readonly low: number; readonly high: number };
  readonly cachedTokens?: number;
  /** Tokens read so far, without the cached ones, after so many seconds. */
  readonly progress: readonly { readonly tokens: number; readonly seconds: number }[];
  readonly generatedTokens?: number;
}
