import type { FileRef, SkipReason, SkippedFile, TextEncoding, TextForm } from "../files/files";
import type { TextLook } from "./textLook";

/** What reading and counting a file gave. */
export type KeptFile =
  | {
      readonly kind: "counted";
      readonly tokens: number;
      /** Of the text. */
      readonly key: string;
      readonly look: TextLook;
      readonly encoding?: TextEncoding;
      readonly form?: TextForm;
    }
  | { readonly kind: "skipped"; readonly reason: SkipReason; readonly detail?: string };

export interface KeptText {
  readonly key: string;
  /** Absent where it was not counted before. */
  readonly tokens?: number;
}

/** A text that was counted before. */
export type KnownText = Required<KeptText>;

/** What came of a file that was read and counted elsewhere. `unread`: it takes what only the caller has, its decoder. */
export type ReadCount =
  | Extract<KeptFile, { readonly kind: "counted" }>
  | { readonly kind: "skipped"; readonly skipped: SkippedFile }
  | { readonly kind: "unread" };

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
