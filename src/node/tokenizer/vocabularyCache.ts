import { createHash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { packVocabulary, unpackVocabulary, vocabularyIn } from "../../core/tokens/kernel/bundle";
import { compileVocabulary, type CompiledVocabulary } from "../../core/tokens/kernel/compiledVocabulary";
import { openFlags } from "../reading/regularFile";
import { readVocabulary } from "./vocabularyFile";

/** A vocabulary that is ready, in memory that threads can share. */
export interface LoadedVocabulary {
  readonly block: SharedArrayBuffer;
  readonly vocabulary: CompiledVocabulary;
}

/** Compiled vocabularies that are kept; the least recently used go first. */
const keptFiles = 12;
const largestBlock = 512 * 2 ** 20;
const suffix = ".vocabulary";

/**
 * Opens the vocabulary of a GGUF: from the compiled one in `folder` where the file's path, size and time are the same,
 * else from the GGUF itself. A damaged or older compiled file is made again; a folder that cannot be written is not an
 * error. Synchronous: call it off the main thread.
 * @throws UserError as `readVocabulary` and `compileVocabulary` do.
 */
export function loadVocabulary(file: string, folder: string | undefined): LoadedVocabulary {
  const kept = folder === undefined ? undefined : path.join(folder, keyOf(file) + suffix);
  const known = kept === undefined ? undefined : read(kept);
  if (known) return known;
  const block = packVocabulary(compileVocabulary(readVocabulary(file)));
  if (kept !== undefined) write(kept, block);
  const shared = new SharedArrayBuffer(block.byteLength);
  new Uint8Array(shared).set(block);
  return { block: shared, vocabulary: vocabularyIn(shared) };
}

function keyOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  const identity = JSON.stringify([path.resolve(file), stat?.size ?? 0, stat?.mtimeMs ?? 0]);
  return createHash("sha256").update(identity).digest("hex").slice(0, 32);
}

function read(kept: string): LoadedVocabulary | undefined {
  let file: number;
  try {
    file = openSync(kept, openFlags);
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(file);
    const { size } = stats;
    if (!stats.isFile() || size > largestBlock) return undefined;
    const block = new SharedArrayBuffer(size);
    const bytes = new Uint8Array(block);
    let at = 0;
    for (let got = -1; at < size && got !== 0; at += got) got = readSync(file, bytes, at, size - at, at);
    const vocabulary = at === size ? unpackVocabulary(block) : undefined;
    if (!vocabulary) return undefined;
    touch(kept);
    return { block, vocabulary };
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** The time of the last use decides what is dropped. */
function touch(kept: string): void {
  try {
    const now = new Date();
    utimesSync(kept, now, now);
  } catch {
    // a folder that is read only keeps its times
  }
}

function write(kept: string, block: Uint8Array): void {
  const folder = path.dirname(kept);
  const draft = `${kept}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(draft, block);
    renameSync(draft, kept);
    dropOldest(folder);
  } catch {
    removeQuietly(draft);
  }
}

const longestDraftMs = 3_600_000;

function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // what cannot be written cannot be removed either
  }
}

function dropOldest(folder: string): void {
  const files = readdirSync(folder)
    .map((name) => path.join(folder, name))
    .map((file) => ({ file, used: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  const kept = files.filter(({ file }) => file.endsWith(suffix)).sort((a, b) => b.used - a.used);
  // what a process that was killed was writing
  const drafts = files.filter(
    ({ file, used }) => file.includes(`${suffix}.`) && used < Date.now() - longestDraftMs,
  );
  for (const { file } of [...kept.slice(keptFiles), ...drafts]) rmSync(file, { force: true });
}
