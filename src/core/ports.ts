import type { CountedText, TokenizerIdentity } from "./tokens/tokenCount";
import type { GgufHeader } from "./model/ggufHeader";
import type { ServerFacts } from "./acceptance/serverFacts";
import type { FileRef, SkippedFile, TextEncoding, WalkOptions } from "./tokens/files";

/** Every method takes the caller's signal, has its own time and size limit, and fails with a `UserError` or an abort. */
export interface FileSource {
  /** Files under the roots (absolute paths, files or folders) in a stable order, and everything left out with its reason. */
  list(roots: readonly string[], options: WalkOptions, signal: AbortSignal): AsyncIterable<ListedFile>;
  /** The text as it would be sent. A file that turns out unreadable or binary is a skip, not an error. */
  read(file: FileRef, signal: AbortSignal): Promise<FileText>;
  /** Lets whatever else waits for this thread run; long work on texts calls it every few milliseconds. */
  readonly pause?: () => Promise<void>;
}

export type ListedFile =
  | { readonly kind: "file"; readonly file: FileRef }
  | { readonly kind: "skipped"; readonly skipped: SkippedFile };

export type FileText =
  | { readonly kind: "text"; readonly text: string; readonly encoding?: TextEncoding }
  | { readonly kind: "skipped"; readonly skipped: SkippedFile };

/** Counts text in one model's vocabulary. */
export interface Tokenizer {
  readonly identity: TokenizerIdentity;
  /** Tokens of each text taken alone: no special tokens added; texts of special tokens in the input count as such. */
  count(texts: readonly string[], signal: AbortSignal): Promise<readonly CountedText[]>;
  /** Tokens of a whole prompt as the server reads it: BOS/EOS added as the model says. */
  countPrompt(prompt: string, signal: AbortSignal): Promise<number>;
}

export interface ModelSource {
  /** Header of a GGUF (path or http(s) address; a shard stands for all its parts). */
  readHeader(locator: string, signal: AbortSignal): Promise<GgufHeader>;
}

export interface LlamaServer {
  readonly url: string;
  /** What the server says about itself and what one request may hold. */
  facts(signal: AbortSignal): Promise<ServerFacts>;
  tokenizer(facts: ServerFacts): Tokenizer;
  /** The prompt the server would make of one user message. */
  applyTemplate(userMessage: string, signal: AbortSignal): Promise<string>;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string, cause?: unknown): void;
}
