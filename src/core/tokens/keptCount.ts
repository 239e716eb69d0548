import type { TextLook } from "./fileMarks";
import type { SkipReason, TextEncoding, TextForm } from "./files";

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
