import type { FileRef } from "../files/files";
import type { PromptEnds } from "./kernel/promptEnds";
import type { KnownText, ReadCount } from "./keptCount";
import type { TokenizerIdentity, CountedText } from "./tokenCount";

/** Counts text in one model's vocabulary. */
export interface Tokenizer {
  readonly identity: TokenizerIdentity;
  /** Equal for tokenizers that give the same counts; without it counts cannot be kept. */
  readonly fingerprint?: string;
  /** Absent where the vocabulary is not at hand. */
  readonly ends?: PromptEnds;
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
