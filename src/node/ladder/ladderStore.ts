import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import {
  parseLadderLine,
  type LadderHeader,
  type LadderLine,
  type LadderStep,
} from "../../core/ladder/score/record";
import { bytes, say } from "../../core/text";
import { UserError } from "../../core/userError";
import { appendFlags, textOfRegular, UnreadableError } from "../reading/regularFile";
import { errorCode } from "../waiting/within";

export interface StoredLadder {
  readonly header: LadderHeader;
  readonly steps: readonly LadderStep[];
  /** Lines that a kill tore or a later version wrote. */
  readonly unreadable: number;
}

const maxBytes = 256 * 2 ** 20;

/** One ladder as JSON lines in a folder. A step is one synced write; what is written is never changed. */
export class LadderStore {
  readonly file: string;

  constructor(readonly folder: string) {
    this.file = path.join(folder, "ladder.jsonl");
  }

  /** undefined where nothing was stored yet. */
  async read(signal: AbortSignal): Promise<StoredLadder | undefined> {
    const text = await textOfRegular(this.file, { most: maxBytes, signal }).catch((cause: unknown) => {
      signal.throwIfAborted();
      if (errorCode(cause) === "ENOENT" || errorCode(cause) === "ENOTDIR") return "";
      throw new UserError(
        "tooLarge",
        cause instanceof UnreadableError && cause.code === "TOO_LARGE"
          ? say`The record ${this.file} is larger than ${bytes(maxBytes)}.`
          : say`The record ${this.file} cannot be read.`,
        say`Choose another folder.`,
        { cause },
      );
    });
    if (text === "") return undefined;
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const read = lines.map(parseLadderLine);
    const header = read.find((line) => line?.kind === "ladder");
    if (header?.kind !== "ladder") {
      // a kill before the first line was whole: nothing is lost
      if (lines.length <= 1) return undefined;
      throw new UserError(
        "invalidInput",
        say`${this.file} is not a ladder record this version can read.`,
        say`Choose another folder; the file is left unchanged.`,
      );
    }
    return {
      header,
      steps: read.filter((line) => line?.kind === "step"),
      unreadable: read.filter((line) => line === undefined).length,
    };
  }

  /** Whoever appends has read: what is no ordinary file was refused then. */
  async append(line: LadderLine): Promise<void> {
    try {
      await mkdir(this.folder, { recursive: true });
      const handle = await open(this.file, appendFlags, 0o600);
      try {
        const { size } = await handle.stat();
        const torn = size > 0 && !(await endsWithNewline(handle, size));
        const data = Buffer.from(`${torn ? "\n" : ""}${JSON.stringify(line)}\n`, "utf8");
        const { bytesWritten } = await handle.write(data);
        if (bytesWritten !== data.length) throw notStored(this.file);
        await handle.sync();
      } finally {
        await handle.close();
      }
    } catch (cause) {
      throw cause instanceof UserError ? cause : notStored(this.file, cause);
    }
  }
}

async function endsWithNewline(handle: Awaited<ReturnType<typeof open>>, size: number): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] === 10;
}

function notStored(file: string, cause?: unknown): UserError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const full = code === "ENOSPC" || code === "EDQUOT" || cause === undefined;
  return new UserError(
    "outsideFailed",
    full
      ? say`There is no disk space to store the ladder in ${file}.`
      : say`The ladder cannot be stored in ${file} (${code}).`,
    full
      ? say`Free some disk space and run it again; it resumes after the last saved rung.`
      : say`Choose a folder that can be written to.`,
    { cause },
  );
}
