import { createHash } from "node:crypto";
import { appendFile, mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";
import type { CountCache, KeptFile, KeptText, KnownText } from "../../core/tokens/keptCount";
import type { FileRef } from "../../core/files/files";
import { readLine, writeLine, type CacheLine } from "./countCacheLines";
import { openRegular, UnreadableError } from "../reading/regularFile";
import { keyOf } from "./textKey";

/** Of the format below. Other versions are ignored and written anew. */
const version = 3;
const header = JSON.stringify({ llamaGaugeCounts: version });
const suffix = ".counts";
/** Tokenizers whose counts are kept; the least recently used go first. */
const keptTokenizers = 8;
/** Files whose counts are kept for one tokenizer; about 600 bytes each. */
const mostFiles = 100_000;
const mostPrompts = 200;
/** Three times as much as that many take. */
const mostBytes = 256 * 2 ** 20;
/** Texts of one size that are compared with a file; the last ones. */
const mostOfOneSize = 8;
/** A file that was written so shortly before it was read may be written again without a new time. */
const unsettledMs = 2_000;
const linesPerWrite = 1_000;
const filesPerTurn = 1_000;

export interface CountCacheOptions {
  /** Folder of ours. */
  readonly folder: string;
  /** Of the tokenizer, and of the code that counts. */
  readonly fingerprint: string;
  readonly now?: () => number;
}

interface Known {
  readonly size: number;
  readonly mtimeMs: number;
  readonly stamp: string;
  readonly kept: KeptFile;
}

/**
 * Counts of one tokenizer, kept in one file: a header and one JSON array per line, newest last. New lines are appended, so that
 * several windows can write; a line that cannot be read is no line. Never fails.
 */
export async function openCountCache(options: CountCacheOptions): Promise<CountCache> {
  const name = createHash("sha256").update(options.fingerprint).digest("hex").slice(0, 32) + suffix;
  const cache = new FileCountCache(path.join(options.folder, name), options.now ?? Date.now);
  await cache.load();
  return cache;
}

class FileCountCache implements CountCache {
  private readonly files = new Map<string, Known>();
  private readonly texts = new Map<string, number>();
  private readonly bySize = new Map<number, readonly KnownText[]>();
  private readonly prompts = new Map<string, number>();
  private fresh: CacheLine[] = [];
  /** The file on disk is damaged, of another version, or mostly out of date. */
  private rewrite = false;
  private flushing: Promise<void> = Promise.resolve();

  constructor(
    private readonly place: string,
    private readonly now: () => number,
  ) {}

  file({ path: name, bytes, mtimeMs, stamp = "", unsaved }: FileRef): KeptFile | undefined {
    const known = unsaved === true ? undefined : this.files.get(name);
    const same = known?.size === bytes && known.mtimeMs === mtimeMs && known.stamp === stamp;
    return same ? known.kept : undefined;
  }

  alike({ bytes, unsaved }: FileRef): readonly KnownText[] {
    return unsaved === true ? [] : (this.bySize.get(bytes) ?? []);
  }

  text(text: string): KeptText {
    const key = keyOf(text);
    const tokens = this.texts.get(key);
    return tokens === undefined ? { key } : { key, tokens };
  }

  keepFile(file: FileRef, kept: KeptFile): void {
    if (file.unsaved === true) return;
    if (kept.kind === "counted") this.know(file.bytes, kept);
    if (!this.settled(file)) return;
    const line: CacheLine = {
      kind: "file",
      path: file.path,
      size: file.bytes,
      mtimeMs: file.mtimeMs,
      stamp: file.stamp ?? "",
      kept,
    };
    this.add(line);
    this.fresh.push(line);
  }

  async promptKey(files: readonly FileRef[], frame: string): Promise<string | undefined> {
    const sum = createHash("sha256").update(frame);
    for (let at = 0; at < files.length; at += filesPerTurn) {
      if (at > 0) await turn();
      const parts = files.slice(at, at + filesPerTurn);
      if (!parts.every((file) => file.unsaved !== true && this.settled(file))) return undefined;
      sum.update(
        JSON.stringify(
          parts.map(({ path: name, label, bytes, mtimeMs, stamp }) => [name, label, bytes, mtimeMs, stamp]),
        ),
      );
    }
    return sum.digest("hex").slice(0, 32);
  }

  promptTokens(key: string): number | undefined {
    return this.prompts.get(key);
  }

  keepPrompt(key: string, tokens: number): void {
    const line: CacheLine = { kind: "prompt", key, tokens };
    this.add(line);
    this.fresh.push(line);
  }

  flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.write()).catch(() => undefined);
    return this.flushing;
  }

  async load(): Promise<void> {
    let first = true;
    let lines = 0;
    try {
      const { handle, size } = await openRegular(this.place);
      const input = handle.createReadStream({ encoding: "utf8" });
      if (size > mostBytes) {
        input.destroy();
        throw new UnreadableError(this.place, "TOO_LARGE");
      }
      for await (const text of createInterface({ input, crlfDelay: Infinity })) {
        if (first) {
          first = false;
          if (text !== header) {
            this.rewrite = true;
            input.destroy();
            break;
          }
          continue;
        }
        const line = readLine(text);
        if (line === undefined) this.rewrite = true;
        else this.add(line);
        if (++lines > 3 * mostFiles) break;
      }
    } catch {
      // it is not there yet, or cannot be read: nothing is known
    }
    if (first || lines > 2 * (this.files.size + this.prompts.size) + 1000) this.rewrite = true;
  }

  /** A time of change goes on in steps of some milliseconds. */
  private settled({ mtimeMs, stamp = "" }: FileRef): boolean {
    const changed = Number(stamp.split(" ")[1] ?? 0);
    return Math.max(mtimeMs, changed) < this.now() - unsettledMs;
  }

  private add(line: CacheLine): void {
    if (line.kind === "prompt") {
      renew(this.prompts, line.key, line.tokens, mostPrompts);
      return;
    }
    const { size, mtimeMs, stamp, kept } = line;
    renew(this.files, line.path, { size, mtimeMs, stamp, kept }, mostFiles);
    if (kept.kind === "counted") this.know(size, kept);
  }

  private know(size: number, { key, tokens }: KnownText): void {
    this.texts.set(key, tokens);
    const others = this.bySize.get(size) ?? [];
    if (others.some((other) => other.key === key)) return;
    this.bySize.set(size, [{ key, tokens }, ...others.slice(0, mostOfOneSize - 1)]);
  }

  private async write(): Promise<void> {
    const { fresh } = this;
    if (fresh.length === 0) return;
    this.fresh = [];
    await mkdir(path.dirname(this.place), { recursive: true });
    if (this.rewrite) {
      const draft = `${this.place}.${process.pid}.${Math.random().toString(36).slice(2)}`;
      try {
        await writeFile(draft, `${header}\n`);
        await append(draft, this.all());
        await rename(draft, this.place);
      } finally {
        await rm(draft, { force: true });
      }
      this.rewrite = false;
    } else {
      await append(this.place, fresh);
    }
    const now = new Date(this.now());
    await utimes(this.place, now, now);
    await dropOldest(path.dirname(this.place));
  }

  private *all(): Iterable<CacheLine> {
    for (const [name, known] of this.files) {
      yield { kind: "file", path: name, ...known };
    }
    for (const [key, tokens] of this.prompts) yield { kind: "prompt", key, tokens };
  }
}

/** The newest stand last; the oldest give way. */
function renew<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  for (const [oldest] of map) {
    map.delete(oldest);
    return;
  }
}

async function append(file: string, lines: Iterable<CacheLine>): Promise<void> {
  let block: string[] = [];
  for (const line of lines) {
    block.push(writeLine(line));
    if (block.length < linesPerWrite) continue;
    await appendFile(file, block.join(""));
    block = [];
  }
  if (block.length > 0) await appendFile(file, block.join(""));
}

async function dropOldest(folder: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const file = path.join(folder, name);
      return { file, used: (await stat(file)).mtimeMs };
    }),
  );
  const kept = files.filter(({ file }) => file.endsWith(suffix)).sort((a, b) => b.used - a.used);
  const drafts = files.filter(({ file, used }) => isDraft.test(file) && used < Date.now() - longestDraftMs);
  for (const { file } of [...kept.slice(keptTokenizers), ...drafts]) await rm(file, { force: true });
}

/** What a process that was killed, or had no room left, was writing. */
const isDraft = /\.counts\.\d+\.[a-z\d]+$/;
const longestDraftMs = 3_600_000;
