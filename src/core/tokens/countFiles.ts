import type { Clock } from "../clock";
import type { CountCache, ReadCount } from "./keptCount";
import type { Tokenizer } from "./tokenizer";
import type { FileSource, FileRef, SkippedFile, WalkOptions } from "../files/files";
import { Bounded } from "./bounded";
import { CountTally, type CountProgress } from "./countTally";
import { isAttributesFile } from "./fileMarks";
import { lookAt } from "./textLook";
import { countingMayCrash, type TokenCount } from "./tokenCount";

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
  const tally = new CountTally(tokenizer.identity, onProgress);
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

async function countBatch(
  entries: readonly Entry[],
  parts: CountParts,
  tally: CountTally,
  signal: AbortSignal,
): Promise<void> {
  const elsewhere = entries.filter(({ file }) => isReadElsewhere(file, parts));
  const here = entries.filter(({ file }) => !isReadElsewhere(file, parts));
  const unread = elsewhere.length === 0 ? [] : await countElsewhere(elsewhere, parts, tally, signal);
  const left = [...here, ...unread];
  if (left.length > 0) await countHere(left, parts, tally, signal);
  tally.report();
}

/** What says nothing but by its bytes on disk may be read by the thread that counts it. */
const isReadElsewhere = (file: FileRef, { files, tokenizer }: CountParts): boolean =>
  tokenizer.countFiles !== undefined && files.onDisk?.(file) === true && !isAttributesFile(file.label);

/** Returns the files that have to be read here after all. */
async function countElsewhere(
  entries: readonly Entry[],
  { tokenizer, cache }: CountParts,
  tally: CountTally,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const asked = entries.map(({ file }) => ({ file, known: cache?.alike(file) ?? [] }));
  const answers = (await tokenizer.countFiles?.(asked, signal)) ?? [];
  if (answers.length !== entries.length) {
    throw new Error(`tokenizer counted ${answers.length} of ${entries.length} files`);
  }
  signal.throwIfAborted();
  return entries.filter(({ position, file }, i) => {
    const answer: ReadCount = answers[i] ?? { kind: "unread" };
    if (answer.kind === "unread") return true;
    if (answer.kind === "skipped") {
      skip(answer.skipped, { position, file }, tally, cache);
    } else {
      tally.kept(position, file, answer);
      cache?.keepFile(file, answer);
    }
    return false;
  });
}

async function countHere(
  entries: readonly Entry[],
  { files, tokenizer, cache }: CountParts,
  tally: CountTally,
  signal: AbortSignal,
): Promise<void> {
  const read = await Promise.all(
    entries.map(async (entry) => ({ entry, content: await files.read(entry.file, signal) })),
  );
  let untilPause = pauseEvery;
  const texts: string[] = [];
  const waiting: ((tokens: number) => void)[] = [];
  for (const { entry, content } of read) {
    const { position, file } = entry;
    if (content.kind === "skipped") {
      skip(content.skipped, entry, tally, cache);
      continue;
    }
    const { text, encoding, form } = content;
    const look = lookAt(file.label, encoder.encode(text));
    if (isAttributesFile(file.label)) tally.attributes(file.label, text);
    if (countingMayCrash(tokenizer.identity, look.longRun)) {
      const { path, label } = file;
      tally.skipped(position, { path, label, reason: "crashRisk", folder: false });
      tally.done();
      continue;
    }
    const found = cache?.text(text);
    const counted = (tokens: number): void => {
      const key = found?.key ?? "";
      const how = { ...(encoding !== undefined && { encoding }), ...(form !== undefined && { form }) };
      const kept = { kind: "counted", tokens, key, look, ...how } as const;
      tally.kept(position, file, kept);
      if (!isAttributesFile(file.label)) cache?.keepFile(file, kept);
    };
    if (found?.tokens === undefined) {
      texts.push(text);
      waiting.push(counted);
    } else {
      counted(found.tokens);
    }
    untilPause -= text.length;
    if (untilPause > 0) continue;
    untilPause = pauseEvery;
    await files.pause?.();
  }
  signal.throwIfAborted();
  const answers = texts.length === 0 ? [] : await tokenizer.count(texts, signal);
  waiting.forEach((counted, index) => {
    const tokens = answers[index]?.tokens;
    if (tokens === undefined) throw new Error(`tokenizer counted ${answers.length} of ${texts.length} texts`);
    counted(tokens);
  });
}

const encoder = new TextEncoder();

function skip(
  skipped: SkippedFile,
  { position, file }: Entry,
  tally: CountTally,
  cache: CountCache | undefined,
): void {
  tally.skipped(position, skipped);
  tally.done();
  const { reason, detail } = skipped;
  if (reason === "binary")
    cache?.keepFile(file, { kind: "skipped", reason, ...(detail !== undefined && { detail }) });
}
