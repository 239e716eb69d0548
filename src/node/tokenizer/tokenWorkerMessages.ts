import type { UserErrorReason } from "../../core/userError";
import type { Text } from "../../core/text";
import type { PromptEnds } from "../../core/tokens/kernel/promptEnds";
import type { FileToCount } from "../../core/tokens/tokenizer";
import type { ReadCount } from "../../core/tokens/keptCount";
import type { TokenizerKeys } from "../../core/tokens/kernel/vocabularyDefaults";

export interface TokenizeFlags {
  readonly addSpecial: boolean;
  readonly parseSpecial: boolean;
}

/** What a token worker is asked. */
export type TokenTask =
  /** Opens a vocabulary and hands out its block. */
  | { readonly kind: "open"; readonly file: string; readonly cacheDir?: string }
  /** Tokens of each text. */
  | { readonly kind: "count"; readonly texts: readonly string[]; readonly flags: TokenizeFlags }
  /** The text of a notebook's cells. */
  | { readonly kind: "notebook"; readonly json: string }
  /** The same of files that the thread reads itself. */
  | {
      readonly kind: "countFiles";
      readonly files: readonly FileToCount[];
      readonly flags: TokenizeFlags;
      readonly mostBytes: number;
    }
  /** Tokens of one text, given as UTF-8 in memory that is not copied on its way. */
  | { readonly kind: "countBytes"; readonly bytes: SharedArrayBuffer; readonly flags: TokenizeFlags }
  | { readonly kind: "encode"; readonly text: string | Uint8Array; readonly flags: TokenizeFlags };

export interface TokenRequest {
  readonly id: number;
  readonly task: TokenTask;
  /** The vocabulary to work with. */
  readonly block?: SharedArrayBuffer;
  /** One number that becomes 1 when nobody waits any more. */
  readonly cancelled: SharedArrayBuffer;
}

export type TokenAnswer =
  | {
      readonly kind: "opened";
      readonly block: SharedArrayBuffer;
      readonly keys: TokenizerKeys;
      readonly fingerprint: string;
      readonly splitsByRegex: boolean;
      readonly ends: PromptEnds;
    }
  | { readonly kind: "counted"; readonly tokens: readonly number[] }
  | { readonly kind: "countedFiles"; readonly files: readonly ReadCount[] }
  | { readonly kind: "notebook"; readonly text?: string }
  | { readonly kind: "encoded"; readonly ids: Int32Array };

export type TokenReply =
  | { readonly id: number; readonly answer: TokenAnswer }
  | { readonly id: number; readonly cancelled: true }
  | {
      readonly id: number;
      readonly userError: { readonly reason: UserErrorReason; readonly problem: Text; readonly remedy: Text };
    }
  | { readonly id: number; readonly failure: string };
