import type { Tokenizer } from "../tokens/tokenizer";

export interface SlotFacts {
  readonly id: number;
  readonly nCtx: number;
  readonly busy: boolean;
  /** Tokens of the request it works on or worked on last, prompt and answer; absent where it never had one. */
  readonly tokens?: number;
}

export interface ServerModel {
  readonly id: string;
  /** As the server sees it; the file may be on another machine. */
  readonly path?: string;
  readonly nCtxTrain?: number;
  readonly parameters?: number;
  /** Bytes of all tensors. */
  readonly weightsBytes?: number;
  readonly embeddingLength?: number;
  readonly vocabularySize?: number;
}

/** What a running llama-server says about itself (`/props`, `/slots`, `/v1/models`). */
export interface ServerFacts {
  readonly url: string;
  /** e.g. "b11669-Debian". */
  readonly build?: string;
  readonly role: "single" | "router";
  readonly model: ServerModel;
  /** Tokens one request may hold: `default_generation_settings.n_ctx`. */
  readonly nCtxPerSlot: number;
  readonly totalSlots: number;
  /** Absent where the server does not tell (`--no-slots`), is asleep or too busy to answer. */
  readonly slots?: readonly SlotFacts[];
  readonly sleeping: boolean;
  readonly hasVision: boolean;
  /** A router's command line for this model, without the program. */
  readonly args?: readonly string[];
}

export interface LlamaServer {
  readonly url: string;
  /** What the server says about itself and what one request may hold. */
  facts(signal: AbortSignal): Promise<ServerFacts>;
  tokenizer(facts: ServerFacts): Tokenizer;
  /** The prompt the server would make of one user message. */
  applyTemplate(userMessage: string, signal: AbortSignal): Promise<string>;
}
