import type { Text } from "../text";

/** Will llama-server take this prompt? All figures in tokens. */
export interface AcceptanceReport {
  /** null: nobody can know yet; `reasons` says what is missing. */
  readonly accepted: boolean | null;
  readonly promptTokens: number;
  /** false where `promptTokens` was counted in an assumed vocabulary. */
  readonly exact: boolean;
  /** Relative half-width of `promptTokens`; absent where it is exact. */
  readonly relativeError?: number;
  readonly parts: PromptParts;
  readonly nCtxPerSlot: number | null;
  /** Tokens left for the answer: `nCtxPerSlot - promptTokens`, at least 0. */
  readonly answerRoom: number | null;
  /** Tokens the user wants kept for the answer. */
  readonly answerReserve: number;
  readonly reasons: readonly Text[];
}

/** What the prompt is made of; the sum is `promptTokens`. */
export interface PromptParts {
  readonly files: number;
  /** Headers and fences, and where pieces merge across them (may be negative by a few). */
  readonly packing: number;
  /** Chat template with BOS. */
  readonly template: number;
}
