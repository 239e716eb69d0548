import { say, type Text } from "../text";
import type { SkippedFile, SkipReason } from "../files/files";

const reasons: Record<SkipReason, Text> = {
  ignored: say`left out by an ignore file`,
  excluded: say`excluded by a setting`,
  binary: say`not text`,
  tooLarge: say`too large`,
  unreadable: say`cannot be read`,
  notAFile: say`not a regular file`,
  linked: say`symbolic link, not followed`,
  symlinkLoop: say`symbolic link to a folder above it`,
  vanished: say`gone before it was counted`,
  crashRisk: say`a long run of characters may crash llama-server; choose the model's GGUF to count it`,
  tooMany: say`beyond the limit of files`,
};

/** Why a file or folder was left out, with the rule, size or system error where there is one. */
export function skipReasonText(skipped: SkippedFile): Text {
  const reason = reasons[skipped.reason];
  return skipped.detail === undefined ? reason : say`${reason} (${skipped.detail})`;
}
