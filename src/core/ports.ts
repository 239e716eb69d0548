import type { KeptFile, KeptText, KnownText, ReadCount } from "./tokens/keptCount";
import type { CountedText, TokenizerIdentity } from "./tokens/tokenCount";
import type { GgufHeader } from "./model/ggufHeader";
import type { ServerFacts } from "./acceptance/serverFacts";
import type { FileRef, SkippedFile, TextEncoding, TextForm, WalkOptions } from "./files/files";

/** Every method takes the caller's signal, has its own time and size limit, and fails with a `UserError` or an abort. */
export interface FileSource {
  /** Files under the roots (absolute paths, files or folders) in a stable order, and everything left out with its reason. */
  list(roots: readonly string[], options: WalkOptions, signal: AbortSignal): AsyncIterable<ListedFile>;
  /** The text as it would be sent. A file that turns out unreadable or binary is a skip, not an error. */
  read(file: FileRef, signal: AbortSignal): Promise<FileText>;
  /** Whether the text is what the bytes at its path say now, so that another thread may read it. */
  readonly onDisk?: (file: FileRef) => boolean;
  /** Lets whatever else waits for this thread run; long work on texts calls it every few milliseconds. */
  readonly pause?: () => Promise<void>;
}

export type ListedFile =
  | { readonly kind: "file"; readonly file: FileRef }
  | { readonly kind: "skipped"; readonly skipped: SkippedFile };

export type FileText =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly encoding?: TextEncoding;
      readonly form?: TextForm;
    }
  | { readonly kind: "skipped"; readonly skipped: SkippedFile };

/** Counts text in one model's vocabulary. */
export interface Tokenizer {
  readonly identity: TokenizerIdentity;
  /** Equal for tokenizers that give the same counts; without it counts cannot be kept. */
  readonly fingerprint?: string;
  /** Tokens of each text taken alone: no special tokens added; texts of special tokens in the input count as such. */
  count(texts: readonly string[], signal: AbortSignal): Promise<readonly CountedText[]>;
  /** Tokens of a whole prompt as the server reads it: BOS/EOS added as the model says. */
  countPrompt(prompt: string, signal: AbortSignal): Promise<number>;
  /** The same for a prompt in pieces, which is never joined on this thread. */
  countPromptPieces?(pieces: readonly string[], signal: AbortSignal): Promise<number>;
  /** As `count`, for files that are read where they are counted; with what `lookAt` sees in each. */
  countFiles?(files: readonly FileToCount[], signal: AbortSignal): Promise<readonly ReadCount[]>;
}

export interface FileToCount {
  readonly file: FileRef;
  /** Texts it may be, by their keys. */
  readonly known: readonly KnownText[];
}

/** Counts of one tokenizer that are kept. It never fails: what cannot be read or written is not kept. */
export interface CountCache {
  /** What came of exactly this file (path, size, time) before. */
  file(file: FileRef): KeptFile | undefined;
  /** What is known of exactly this text, whatever file it stands in. */
  text(text: string): KeptText;
  /** Texts that a file of this size may be. */
  alike(file: FileRef): readonly KnownText[];
  keepFile(file: FileRef, kept: KeptFile): void;
  /** A key of the prompt that these files and this frame make; undefined where a file may have changed unseen. */
  promptKey(files: readonly FileRef[], frame: string): Promise<string | undefined>;
  promptTokens(key: string): number | undefined;
  keepPrompt(key: string, tokens: number): void;
  /** Puts what is new where it outlives the process. */
  flush(): Promise<void>;
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
