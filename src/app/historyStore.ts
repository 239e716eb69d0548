import { appendFile, copyFile, link, mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseHistoryLine } from "../core/history/historyRecord";
import type { HistoryRecord } from "../core/history/historyRecord";
import { bytes, say } from "../core/text";
import { UserError } from "../core/userError";
import { appendFlags, openRegular, textOfRegular, UnreadableError } from "../node/reading/regularFile";
import { draftBeside } from "../node/writing/wholeFile";
import { errorCode } from "../node/waiting/within";

export interface HistoryContent {
  /** In the order they were written. */
  readonly records: readonly HistoryRecord[];
  /** Lines of a later version; they stay as they are. */
  readonly newer: number;
  /** Lines that a kill tore. */
  readonly broken: number;
  /** In front of what was read: of these only baselines are among the records. */
  readonly olderBytes: number;
}

export interface CompactedHistory {
  readonly bytesBefore: number;
  readonly bytes: number;
  readonly records: number;
  /** The history as it was. */
  readonly wholeFile: string;
}

/** Some ten thousand runs; half a second. */
const recentBytes = 16 * 2 ** 20;
/** Read for an export. */
const maxBytes = 256 * 2 ** 20;
/** As it stands in the line of every baseline, and hardly anywhere else. */
const baselineMark = Buffer.from('"kind":"baseline"');
const chunkBytes = 4 * 2 ** 20;

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

  /** The end of the file, and the baselines in front of it: a history of years is not read for every estimate. */
  read(signal: AbortSignal): Promise<HistoryContent> {
    return this.#read(recentBytes, signal);
  }

  /** All of it. */
  readAll(signal: AbortSignal): Promise<HistoryContent> {
    return this.#read(Infinity, signal);
  }

  async #read(recent: number, signal: AbortSignal): Promise<HistoryContent> {
    const { lines, olderBytes } = await this.#lines(recent, signal);
    const parsed = lines.map(parseHistoryLine);
    return {
      records: lastOfEach(parsed.flatMap((line) => (line.kind === "record" ? [line.record] : []))),
      newer: parsed.filter((line) => line.kind === "newer").length,
      broken: parsed.filter((line) => line.kind === "broken").length,
      olderBytes,
    };
  }

  /**
   * Puts what `read` gives in the place of the history: no lines that a later one replaced, none that is broken. The whole
   * of it, with what others write in this moment, stays beside it under another name.
   */
  async compact(now: number, signal: AbortSignal): Promise<CompactedHistory | undefined> {
    const { lines } = await this.#lines(recentBytes, signal);
    if (lines.length === 0) return undefined;
    const kept = new Map<string, string>();
    for (const [at, line] of lines.entries()) {
      const parsed = parseHistoryLine(line);
      if (parsed.kind === "record") {
        kept.delete(parsed.record.id);
        kept.set(parsed.record.id, line);
      } else if (parsed.kind === "newer") kept.set(`line ${at}`, line);
    }
    const wholeFile = this.#file.replace(/\.jsonl$/, `-before-${now}.jsonl`);
    const draft = await draftBeside(this.#file);
    const before = (await stat(this.#file)).size;
    try {
      await writeFile(draft, [...kept.values(), ""].join("\n"), { mode: 0o600, flag: "wx", signal });
      // not every file system knows links
      await link(this.#file, wholeFile).catch(() => copyFile(this.#file, wholeFile));
      await rename(draft, this.#file);
    } catch (cause) {
      await rm(draft, { force: true });
      throw isFull(cause) ? full(this.#file, cause) : cause;
    }
    await this.#appendWrittenSince(wholeFile, before);
    return { bytesBefore: before, bytes: (await stat(this.#file)).size, records: kept.size, wholeFile };
  }

  /** What another window added while the file was exchanged. */
  async #appendWrittenSince(file: string, size: number): Promise<void> {
    const { handle, size: now } = await openRegular(file);
    try {
      if (now <= size) return;
      const { buffer } = await handle.read(Buffer.alloc(now - size), 0, now - size, size);
      await appendFile(this.#file, buffer);
    } finally {
      await handle.close();
    }
  }

  async #lines(
    recent: number,
    signal: AbortSignal,
  ): Promise<{ readonly lines: readonly string[]; readonly olderBytes: number }> {
    let older: readonly string[] = [];
    let olderBytes = 0;
    let text: string;
    try {
      const { handle, size } = await openRegular(this.#file);
      await handle.close();
      if (size > recent) {
        const read = await this.#olderBaselines(size - recent, signal);
        older = read.lines;
        olderBytes = read.end;
      }
      const most = recent === Infinity ? maxBytes : size - olderBytes;
      text = await textOfRegular(this.#file, {
        most,
        part: recent === Infinity ? "whole" : "end",
        signal,
      });
    } catch (cause) {
      signal.throwIfAborted();
      if (errorCode(cause) === "ENOENT") return { lines: [], olderBytes: 0 };
      if (!(cause instanceof UnreadableError)) throw cause;
      throw new UserError(
        "tooLarge",
        cause.code === "TOO_LARGE"
          ? say`The history ${this.#file} is larger than ${bytes(maxBytes)}.`
          : say`The history ${this.#file} is not a file.`,
        say`Move it away; a new one will be created.`,
      );
    }
    return { lines: [...older, ...text.split("\n")].filter((line) => line.trim() !== ""), olderBytes };
  }

  /** Lines of baselines up to the one that goes on at `limit`; `end` is where that one ends. */
  async #olderBaselines(
    limit: number,
    signal: AbortSignal,
  ): Promise<{ readonly lines: readonly string[]; readonly end: number }> {
    const { handle } = await openRegular(this.#file);
    const lines: string[] = [];
    let rest = Buffer.alloc(0);
    let position = 0;
    try {
      for (;;) {
        signal.throwIfAborted();
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(chunkBytes), 0, chunkBytes, position);
        if (bytesRead === 0) return { lines, end: position };
        position += bytesRead;
        const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const start = position - bytes.length;
        // lines that begin in front of the limit
        const stop = bytes.indexOf(10, Math.max(0, limit - 1 - start));
        const end = start + bytes.length > limit && stop >= 0 ? stop + 1 : bytes.lastIndexOf(10) + 1;
        for (const line of linesWith(bytes.subarray(0, end), baselineMark)) lines.push(line);
        if (start + end >= limit) return { lines, end: start + end };
        rest = bytes.subarray(end);
      }
    } finally {
      await handle.close();
    }
  }
}

/** Whole lines that have the mark in them. */
function linesWith(bytes: Buffer, mark: Buffer): string[] {
  const lines: string[] = [];
  for (let at = bytes.indexOf(mark); at >= 0;) {
    const start = bytes.lastIndexOf(10, at) + 1;
    const end = bytes.indexOf(10, at);
    lines.push(bytes.toString("utf8", start, end < 0 ? bytes.length : end));
    if (end < 0) break;
    at = bytes.indexOf(mark, end);
  }
  return lines;
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
