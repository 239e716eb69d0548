import { formatText } from "./format";
import type { Text } from "./text";

/** What kind of thing went wrong outside; surfaces choose their offer (open setting, ask for a key) by it. */
export type UserErrorReason =
  | "notFound"
  | "refused"
  | "timeout"
  | "unauthorized"
  | "loading"
  | "badOutput"
  | "tooLarge"
  | "unsupported"
  | "invalidInput"
  | "untrusted"
  /** A figure was asked for, and there is none. */
  | "noFigure"
  | "outsideFailed";

/** An error the user can do something about. Everything else that is thrown is a bug. */
export class UserError extends Error {
  override readonly name = "UserError";

  /** Also one from another bundle of ours, which has a class of its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "UserError" && "remedy" in value;
  }

  constructor(
    readonly reason: UserErrorReason,
    readonly problem: Text,
    readonly remedy: Text,
    options?: ErrorOptions,
  ) {
    super(`${formatText(problem)} ${formatText(remedy)}`, options);
  }
}
