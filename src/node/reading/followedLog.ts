import { open, type FileHandle } from "node:fs/promises";
import type { LineBytes } from "../../core/logs/reading/slotLine";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { encodingOf, headBytes } from "./decodeFile";
import { openFlags } from "./regularFile";

/** Read at once; what is in memory of a log is never more than this, and one line. */
const chunkBytes = 4 * 2 ** 20;
/** The rest of a longer line is dropped: llama.cpp writes none. */
const longestLine = 64 * 2 ** 10;

/** The first line of a server's log has the microseconds of its start. */
const beginningBytes = 256;

const newline = 10;
const carriageReturn = 13;

export interface LogRead {
  /** Bytes read this time. */
  readonly bytes: number;
  /** When the file was written last: milliseconds since the epoch. */
  readonly writtenAt: number;
}

/**
 * A log file that grows. Every `read` gives the lines that were written since the one before: from the beginning once more
 * where the file was replaced or cut off, as rotation does. Between reads nothing is open and nothing is watched.
 */
export class FollowedLog {
  private offset = 0;
  private identity = "";
  private decoder: InstanceType<typeof TextDecoder> | undefined;
  private rest: Buffer = Buffer.alloc(0);
  private beginning: Buffer = Buffer.alloc(0);

  constructor(
    private readonly file: string,
    private readonly onLine: (line: LineBytes) => void,
    /** How it is called in what is told; a container's file is reached by another path. */
    private readonly named = file,
  ) {}

  /** @throws UserError where it is not there, not a file, unreadable or binary */
  async read(signal: AbortSignal): Promise<LogRead> {
    const handle = await open(this.file, openFlags).catch((cause: unknown) => {
      this.startOver("");
      throw new UserError("notFound", say`${this.named} cannot be read.`, say`Specify an existing log.`, {
        cause,
      });
    });
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) {
        throw new UserError("invalidInput", say`${this.named} is not a file.`, say`Specify an existing log.`);
      }
      // a new file may get the number of the old one, and grow past the place it was read to: its first line is another
      const identity = `${stats.dev}:${stats.ino}`;
      if (identity !== this.identity || stats.size < this.offset || !(await this.beginsAlike(handle)))
        this.startOver(identity);
      const chunk = Buffer.allocUnsafe(Math.max(1, Math.min(chunkBytes, stats.size - this.offset)));
      const from = this.offset;
      // what is written while it is read comes with the next read
      while (this.offset < stats.size) {
        signal.throwIfAborted();
        const { bytesRead } = await handle.read(
          chunk,
          0,
          Math.min(chunk.length, stats.size - this.offset),
          this.offset,
        );
        if (bytesRead === 0) break;
        const bytes = chunk.subarray(0, bytesRead);
        if (this.offset === 0) this.look(bytes);
        if (this.offset < beginningBytes)
          this.beginning = Buffer.concat([this.beginning, bytes.subarray(0, beginningBytes)]).subarray(
            0,
            beginningBytes,
          );
        this.offset += bytesRead;
        this.take(bytes);
      }
      return { bytes: this.offset - from, writtenAt: stats.mtimeMs };
    } finally {
      await handle.close();
    }
  }

  /** The last line, where it does not end yet: for a log that nobody writes any more. */
  flush(): void {
    const last = this.rest;
    this.rest = Buffer.alloc(0);
    if (last.length > 0) this.lines(last);
  }

  private async beginsAlike(handle: FileHandle): Promise<boolean> {
    const { length } = this.beginning;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
    return bytesRead === length && this.beginning.equals(buffer);
  }

  private startOver(identity: string): void {
    this.beginning = Buffer.alloc(0);
    this.identity = identity;
    this.offset = 0;
    this.decoder = undefined;
    this.rest = Buffer.alloc(0);
  }

  private look(bytes: Buffer): void {
    const encoding = encodingOf(bytes.subarray(0, headBytes));
    if (encoding === "binary") {
      throw new UserError(
        "invalidInput",
        say`${this.named} is not a text file.`,
        say`Specify a log as llama-server writes it; unpack a compressed one first.`,
      );
    }
    // PowerShell's `>` writes UTF-16
    this.decoder =
      encoding === "utf8" ? undefined : new TextDecoder(encoding === "utf16le" ? "utf-16le" : "utf-16be");
  }

  private take(read: Buffer): void {
    const bytes =
      this.decoder === undefined ? read : Buffer.from(this.decoder.decode(read, { stream: true }), "utf8");
    const end = bytes.lastIndexOf(newline);
    if (end < 0) {
      if (this.rest.length < longestLine)
        this.rest = Buffer.concat([this.rest, bytes]).subarray(0, longestLine);
      return;
    }
    const first = bytes.indexOf(newline);
    this.lines(Buffer.concat([this.rest, bytes.subarray(0, first)]));
    if (first < end) this.lines(bytes.subarray(first + 1, end));
    this.rest = Buffer.from(bytes.subarray(end + 1, end + 1 + longestLine));
  }

  private lines(bytes: Buffer): void {
    const line = new OneLine(bytes);
    for (;;) {
      const stop = bytes.indexOf(newline, line.from);
      const end = stop < 0 ? bytes.length : stop;
      line.to = end > line.from && bytes[end - 1] === carriageReturn ? end - 1 : end;
      this.onLine(line);
      if (stop < 0) return;
      line.from = stop + 1;
    }
  }
}

/** Moved from line to line: a log of half a gigabyte has four million. */
class OneLine implements LineBytes {
  from = 0;
  to = 0;

  constructor(readonly bytes: Buffer) {}

  text(from: number, to: number): string {
    return this.bytes.toString("utf8", from, to);
  }

  ascii(from: number, to: number): string {
    return this.bytes.toString("latin1", from, to);
  }
}
