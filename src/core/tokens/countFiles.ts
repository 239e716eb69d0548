import type { Clock, CountCache, FileSource, FileText, Tokenizer } from "../ports";
import { count, say, type Text } from "../text";
import { FileMarks, isAttributesFile, type TextLook } from "./fileMarks";
import type { FileRef, SkippedFile, TextEncoding, TextForm, WalkOptions } from "./files";
import type { KeptFile } from "./keptCount";
import type { CountedFile, CountedText, TokenCount } from "./tokenCount";

export interface CountParts {
  readonly files: FileSource;
  readonly tokenizer: Tokenizer;
  readonly clock: Clock;
  /** Of this tokenizer. */
  readonly cache?: CountCache;
}

export interface CountRequest {
  /** Absolute paths of files and folders. */
  readonly roots: readonly string[];
  readonly options: WalkOptions;
  readonly limits?: Partial<CountLimits>;
}

export interface CountLimits {
  /** Bytes of text in one call of the tokenizer; a larger file goes alone. */
  readonly batchBytes: number;
  readonly batchFiles: number;
  /** Batches read or being counted at the same time. */
  readonly batches: number;
}

export interface CountProgress {
  readonly filesFound: number;
  readonly filesDone: number;
  readonly tokens: number;
}

const defaultLimits: CountLimits = { batchBytes: 2 * 1024 * 1024, batchFiles: 64, batches: 3 };

/** Characters whose lines are hashed between two pauses. */
const pauseEvery = 1 << 16;
const recalledBetweenPauses = 256;

/**
 * Lists, reads and counts as a stream; what the cache knows is not read again. Texts held at any time: at most `batches` ×
 * max(`batchBytes`, the largest file). Every file ends up in `files` or in `skipped`, both in the order of the walk.
 * @throws the signal's reason as soon as it is aborted; whatever the source or the tokenizer throws.
 */
export async function countFiles(
  parts: CountParts,
  request: CountRequest,
  onProgress: (progress: CountProgress) => void,
  signal: AbortSignal,
): Promise<TokenCount> {
  const { files, tokenizer, clock, cache } = parts;
  const started = clock.now();
  const limits = { ...defaultLimits, ...request.limits };
  const tally = new Tally(onProgress);
  const counting = new Bounded(limits.batches);
  let batch: Entry[] = [];
  let batchBytes = 0;
  let recalled = 0;

  const send = async (): Promise<void> => {
    const entries = batch;
    batch = [];
    batchBytes = 0;
    if (entries.length > 0) await counting.add(() => countBatch(entries, parts, tally, signal));
  };

  try {
    for await (const listed of files.list(request.roots, request.options, signal)) {
      signal.throwIfAborted();
      counting.throwIfFailed();
      const position = tally.next();
      if (listed.kind === "skipped") {
        tally.skipped(position, listed.skipped);
        continue;
      }
      tally.found();
      const kept = cache?.file(listed.file);
      if (kept !== undefined) {
        tally.kept(position, listed.file, kept);
        if (++recalled % recalledBetweenPauses === 0) await files.pause?.();
        continue;
      }
      const full = batchBytes + listed.file.bytes > limits.batchBytes || batch.length >= limits.batchFiles;
      if (full) await send();
      batch.push({ position, file: listed.file });
      batchBytes += listed.file.bytes;
    }
    await send();
  } finally {
    await counting.settled();
  }
  counting.throwIfFailed();
  signal.throwIfAborted();
  return {
    ...(await tally.result(files.pause)),
    tokenizer: tokenizer.identity,
    seconds: (clock.now() - started) / 1000,
  };
}

/** Where in the walk's order an entry stands, so that batches may end in any order. */
interface Entry {
  readonly position: number;
  readonly file: FileRef;
}

interface Readable extends Entry {
  readonly keep: (counted: CountedText) => void;
}

async function countBatch(
  entries: readonly Entry[],
  { files, tokenizer, cache }: CountParts,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const read = await Promise.all(
    entries.map(async (entry) => ({ entry, content: await files.read(entry.file, signal) })),
  );
  let untilPause = pauseEvery;
  const readable: Readable[] = [];
  const texts: string[] = [];
  for (const { entry, content } of read) {
    const { position, file } = entry;
    if (content.kind === "skipped") {
      tally.skipped(position, content.skipped);
      tally.done();
      const { reason, detail } = content.skipped;
      if (reason === "binary") {
        cache?.keepFile(file, { kind: "skipped", reason, ...(detail !== undefined && { detail }) });
      }
    } else {
      const look = tally.read(file, content);
      const found = cache?.text(content.text);
      const keep = ({ tokens }: CountedText): void => {
        if (found === undefined || isAttributesFile(file.label)) return;
        const { encoding, form } = content;
        const how = { ...(encoding !== undefined && { encoding }), ...(form !== undefined && { form }) };
        cache?.keepFile(file, { kind: "counted", tokens, key: found.key, look, ...how });
      };
      if (found?.tokens === undefined) {
        readable.push({ ...entry, keep });
        texts.push(content.text);
      } else {
        tally.counted(position, { file, tokens: found.tokens });
        keep({ tokens: found.tokens });
      }
      untilPause -= content.text.length;
      if (untilPause > 0) continue;
      untilPause = pauseEvery;
      await files.pause?.();
    }
  }
  signal.throwIfAborted();
  const counted = texts.length === 0 ? [] : await tokenizer.count(texts, signal);
  readable.forEach((entry, index) => {
    const tokens = counted[index]?.tokens;
    if (tokens === undefined) throw new Error(`tokenizer counted ${counted.length} of ${texts.length} texts`);
    tally.counted(entry.position, { file: entry.file, tokens });
    entry.keep({ tokens });
  });
  tally.report();
}

class Tally {
  private readonly files = new Map<number, CountedFile>();
  private readonly skips = new Map<number, SkippedFile>();
  private readonly encodings = new Map<TextEncoding, number>();
  private readonly marks = new FileMarks();
  private notebooks = 0;
  private positions = 0;
  private filesFound = 0;
  private filesDone = 0;
  private tokens = 0;

  constructor(private readonly onProgress: (progress: CountProgress) => void) {}

  next(): number {
    return this.positions++;
  }

  found(): void {
    this.filesFound++;
    if (this.filesFound % 256 === 0) this.report();
  }

  done(): void {
    this.filesDone++;
  }

  skipped(position: number, skipped: SkippedFile): void {
    this.skips.set(position, skipped);
  }

  counted(position: number, file: CountedFile): void {
    this.files.set(position, file);
    this.tokens += file.tokens;
    this.done();
  }

  read(file: FileRef, content: FileText & { readonly kind: "text" }): TextLook {
    this.note(content);
    return this.marks.look(file.label, content.text);
  }

  kept(position: number, file: FileRef, kept: KeptFile): void {
    if (kept.kind === "counted") {
      this.note(kept);
      this.marks.recall(file.label, kept.look);
      this.counted(position, { file, tokens: kept.tokens });
    } else {
      const { reason, detail } = kept;
      const { path, label } = file;
      this.skipped(position, {
        path,
        label,
        reason,
        folder: false,
        ...(detail !== undefined && { detail }),
      });
      this.done();
    }
  }

  private note({
    encoding = "utf8",
    form,
  }: {
    readonly encoding?: TextEncoding;
    readonly form?: TextForm;
  }): void {
    this.encodings.set(encoding, (this.encodings.get(encoding) ?? 0) + 1);
    if (form === "notebook") this.notebooks++;
  }

  report(): void {
    this.onProgress({ filesFound: this.filesFound, filesDone: this.filesDone, tokens: this.tokens });
  }

  async result(
    pause: FileSource["pause"],
  ): Promise<Pick<TokenCount, "tokens" | "files" | "skipped" | "notes">> {
    return {
      tokens: this.tokens,
      files: await this.marks.apply(inOrder(this.files), pause),
      skipped: inOrder(this.skips),
      notes: this.notes(),
    };
  }

  private notes(): Text[] {
    const notes: Text[] = [];
    const replaced = this.encodings.get("replaced") ?? 0;
    if (replaced > 0) {
      notes.push(say`${count(replaced)} files are not valid UTF-8; their bad bytes count as U+FFFD.`);
    }
    if (this.notebooks > 0) {
      notes.push(say`${count(this.notebooks)} notebooks are counted by their cells; outputs are left out.`);
    }
    return notes;
  }
}

function inOrder<T>(byPosition: ReadonlyMap<number, T>): T[] {
  return Array.from(byPosition)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);
}

/** Runs at most `width` jobs at a time; the first failure stops what would follow. */
class Bounded {
  private readonly running = new Set<Promise<void>>();
  private failure: { readonly error: unknown } | undefined;

  constructor(private readonly width: number) {}

  async add(job: () => Promise<void>): Promise<void> {
    while (this.running.size >= this.width) await Promise.race(this.running);
    this.throwIfFailed();
    const running = job()
      .catch((error: unknown) => {
        this.failure ??= { error };
      })
      .finally(() => this.running.delete(running));
    this.running.add(running);
  }

  async settled(): Promise<void> {
    await Promise.all(this.running);
  }

  throwIfFailed(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}
