import type { FileToCount } from "../../core/tokens/tokenizer";
import type { Kernel, TokenizeOptions } from "../../core/tokens/kernel/kernel";
import type { ReadCount } from "../../core/tokens/keptCount";
import { isNotebook, notebookText } from "../../core/files/notebookText";
import { lookAt } from "../../core/tokens/textLook";
import { keyOf } from "./textKey";
import { decodeFile } from "../reading/decodeFile";
import { readDirectly, skip, unreadable } from "../reading/readDirectly";

/** Reads a file on this thread and counts it; a text that is known is not counted again. */
export function countFile(
  { file, known }: FileToCount,
  kernel: Kernel,
  options: FileCountOptions,
): ReadCount {
  const read = bytesOf(file, options.mostBytes);
  if (read.kind === "longer") return skip(file, "tooLarge");
  if (read.kind === "skipped") return read;
  const decoded = decodeFile(read.bytes);
  switch (decoded.kind) {
    case "binary":
      return skip(file, "binary", decoded.detail);
    case "foreign":
      return { kind: "unread" };
    case "utf16":
    case "utf8": {
      const utf8 = decoded.kind === "utf8" ? decoded.bytes : Buffer.from(decoded.text);
      const cells = isNotebook(file.label) ? notebookText(utf8.toString("utf8")) : undefined;
      const bytes = cells === undefined ? utf8 : Buffer.from(cells);
      const key = keyOf(bytes);
      const tokens =
        known.find((text) => text.key === key)?.tokens ??
        kernel.count(bytes, { ...options, wellFormed: true });
      return {
        kind: "counted",
        tokens,
        key,
        look: lookAt(file.label, bytes),
        ...(decoded.kind === "utf16" && { encoding: "utf16" }),
        ...(cells !== undefined && { form: "notebook" }),
      };
    }
  }
}

export interface FileCountOptions extends TokenizeOptions {
  /** A larger file is left out. */
  readonly mostBytes: number;
}

/** Memory of files that were counted; another is read into it. */
let scratch = Buffer.alloc(0);
const mostScratch = 8 * 1024 * 1024;

function scratchOf(bytes: number): Buffer {
  if (bytes > mostScratch) return Buffer.allocUnsafe(bytes);
  if (bytes > scratch.length)
    scratch = Buffer.allocUnsafeSlow(Math.min(mostScratch, Math.max(1 << 16, bytes * 2)));
  return scratch.subarray(0, bytes);
}

function bytesOf(file: FileToCount["file"], most: number): ReturnType<typeof readDirectly> {
  try {
    return readDirectly(file, most, scratchOf);
  } catch (error) {
    return unreadable(file, error);
  }
}
