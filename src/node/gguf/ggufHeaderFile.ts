import path from "node:path";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { openRegular } from "../reading/regularFile";
import type { HeaderBytes } from "./headerBytes";

const firstRead = 4 * 2 ** 20;

export async function openFile(file: string, signal: AbortSignal): Promise<HeaderBytes> {
  signal.throwIfAborted();
  const { handle, size } = await openRegular(file).catch(failed(file));
  return {
    fileBytes: size,
    first: async (wanted) => {
      signal.throwIfAborted();
      const length = Math.min(size, Math.max(firstRead, wanted * 2));
      const buffer = new Uint8Array(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await handle.read(buffer, filled, length - filled, filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    },
    close: () => handle.close(),
  };
}

function failed(file: string): (error: unknown) => never {
  return (error) => {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "NOT_A_FILE" || code === "EISDIR" || code === "ENXIO") {
      throw new UserError("invalidInput", say`${file} is not a file.`, say`Choose a GGUF file.`);
    }
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new UserError(
        "notFound",
        say`There is no model at ${file}.`,
        say`Check the path, or choose the model again.`,
        { cause: error },
      );
    }
    throw new UserError(
      "refused",
      say`${path.basename(file)} cannot be opened (${String(code ?? error)}).`,
      say`Check its permissions and owner.`,
      { cause: error },
    );
  };
}
