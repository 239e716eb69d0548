import type { Text } from "../text";
import type { FileMark } from "../files/fileKinds";
import type { FileRef, SkippedFile } from "../files/files";
import type { LongRun } from "./longRuns";

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
  /** llama.cpp splits its texts by std::regex, which some builds of it do not survive (see `longRuns`); absent: not known. */
  readonly splitsByRegex?: boolean;
}

export interface CountedText {
  readonly tokens: number;
}

export interface CountedFile {
  readonly file: FileRef;
  readonly tokens: number;
  /** Why a prompt may do without it. */
  readonly mark?: FileMark;
  /** A run of characters that may crash the tokenizer of the server it is sent to. */
  readonly longRun?: LongRun;
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

/** Whether llama.cpp may crash on a long run of characters in a text. */
export const mayCrash = ({ splitsByRegex }: TokenizerIdentity): boolean => splitsByRegex !== false;

/** Whether counting a text with this run by the server could itself be the crash. */
export const countingMayCrash = (identity: TokenizerIdentity, longRun: LongRun | undefined): boolean =>
  longRun !== undefined && identity.source === "server" && mayCrash(identity);
