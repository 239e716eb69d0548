import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { parseHistoryLine } from "../core/history/historyRecord";
import type { HistoryRecord } from "../core/history/historyRecord";
import { bytes, say } from "../core/text";
import { UserError } from "../core/userError";
import { appendFlags, textOfRegular, UnreadableError } from "../node/reading/regularFile";
import { errorCode } from "../node/waiting/within";

export interface HistoryContent {
  /** In the order they were written. */
  readonly records: readonly HistoryRecord[];
  /** Lines of a later version; they stay as they are. */
  readonly newer: number;
  /** Lines that a kill tore. */
  readonly broken: number;
}

const maxBytes = 256 * 1024 * 1024;

/**
 * Runs as JSON lines in one file that is only ever appended to. Each record is one write in append mode, so two windows
 * may write at once; a line torn by a kill spoils only itself.
 */
export class HistoryStore {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = path.join(folder, "history.jsonl");
  }

  get file(): string {
    return this.#file;
  }

  async append(record: HistoryRecord): Promise<void> {
    await mkdir(path.dirname(this.#file), { recursive: true });
    const handle = await open(this.#file, appendFlags, 0o600);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw unwritable(this.#file);
      const { size } = stats;
      const torn = size > 0 && (await lastByte(handle, size)) !== 10;
      const line = Buffer.from(`${torn ? "\n" : ""}${JSON.stringify(record)}\n`, "utf8");
      const { bytesWritten } = await handle.write(line);
      if (bytesWritten !== line.length) throw full(this.#file);
      await handle.sync();
    } catch (cause) {
      throw isFull(cause) ? full(this.#file, cause) : cause;
    } finally {
      await handle.close();
    }
  }

  async read(signal: AbortSignal): Promise<HistoryContent> {
    let text: string;
    try {
      text = await textOfRegular(this.#file, { most: maxBytes, signal });
    } catch (cause) {
      signal.throwIfAborted();
      if (errorCode(cause) === "ENOENT") return { records: [], newer: 0, broken: 0 };
      if (!(cause instanceof UnreadableError)) throw cause;
      throw new UserError(
        "tooLarge",
        cause.code === "TOO_LARGE"
          ? say`The history ${this.#file} is larger than ${bytes(maxBytes)}.`
          : say`The history ${this.#file} is not a file.`,
        say`Move it away; a new one will be created.`,
      );
    }
    const lines = text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map(parseHistoryLine);
    return {
      records: lastOfEach(lines.flatMap((line) => (line.kind === "record" ? [line.record] : []))),
      newer: lines.filter((line) => line.kind === "newer").length,
      broken: lines.filter((line) => line.kind === "broken").length,
    };
  }
}

/** A run is written down while it is under way, too; its last word counts. */
function lastOfEach(records: readonly HistoryRecord[]): readonly HistoryRecord[] {
  return [...new Map(records.map((record) => [record.id, record])).values()];
}

async function lastByte(handle: Awaited<ReturnType<typeof open>>, size: number): Promise<number | undefined> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 ? buffer[0] : undefined;
}

function isFull(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && (cause.code === "ENOSPC" || cause.code === "EDQUOT");
}

function full(file: string, cause?: unknown): UserError {
  return new UserError(
    "outsideFailed",
    say`There is no disk space to write the history ${file}.`,
    say`Free some disk space; nothing that was written before is lost.`,
    { cause },
  );
}

const unwritable = (file: string): UserError =>
  new UserError(
    "outsideFailed",
    say`The history ${file} is not a file.`,
    say`Move it away; a new one will be created.`,
  );
