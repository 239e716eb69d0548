import type { Text } from "../text";
import type { FileMark } from "./fileKinds";
import type { FileRef, SkippedFile } from "./files";

/** Which tokenizer counted, and whether its counts equal llama.cpp's. */
export interface TokenizerIdentity {
  readonly source: "server" | "gguf" | "assumed";
  readonly model: string;
  /** `tokenizer.ggml.pre`, or the tokenizer model where there is no pre-tokenizer. */
  readonly pre?: string;
  /** Relative half-width of an estimate, e.g. 0.4; absent where counts are exact. */
  readonly relativeError?: number;
  /** Address of the server whose `/tokenize` gave the same tokens for a test text. */
  readonly checkedWith?: string;
}

export interface CountedText {
  readonly tokens: number;
}

export interface CountedFile {
  readonly file: FileRef;
  readonly tokens: number;
  /** Why a prompt may do without it. */
  readonly mark?: FileMark;
}

export interface TokenCount {
  readonly tokens: number;
  readonly tokenizer: TokenizerIdentity;
  readonly files: readonly CountedFile[];
  readonly skipped: readonly SkippedFile[];
  readonly seconds: number;
  readonly notes: readonly Text[];
}

export const isExact = (identity: TokenizerIdentity): boolean => identity.source !== "assumed";
