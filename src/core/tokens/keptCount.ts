import type { SkipReason, SkippedFile, TextEncoding, TextForm } from "../files/files";
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
