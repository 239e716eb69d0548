import { bytes, say } from "../core/text";
import { UserError } from "../core/userError";
import { readRegular, UnreadableError } from "../node/reading/regularFile";

/** Longer texts are no JavaScript strings, and no command makes anything of them. */
const maxBytes = 256 * 2 ** 20;

/** The text of a file the user named. */
export async function textOf(file: string, signal: AbortSignal): Promise<string> {
  return (await bytesOf(file, signal)).toString("utf8");
}

/** The bytes of a file the user named, or of a pipe. */
export async function bytesOf(file: string, signal: AbortSignal): Promise<Buffer> {
  try {
    return await readRegular(file, { most: maxBytes, pipes: true, signal });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UnreadableError && cause.code === "TOO_LARGE") {
      throw new UserError(
        "tooLarge",
        say`${file} is larger than ${bytes(maxBytes)}.`,
        say`Specify a part of it.`,
        { cause },
      );
    }
    throw new UserError("notFound", say`${file} cannot be read.`, say`Specify an existing file.`, { cause });
  }
}
