import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PromptEnds } from "../../core/tokens/kernel/promptEnds";
import type { FileToCount, Tokenizer } from "../../core/tokens/tokenizer";
import type { ReadCount } from "../../core/tokens/keptCount";
import type { CountedText, TokenizerIdentity } from "../../core/tokens/tokenCount";
import type { TokenAnswer, TokenizeFlags, TokenTask } from "./tokenWorkerMessages";
import { TokenWorkers } from "./tokenWorkers";
import { workerProgram } from "./workerProgram";
import { keyOf } from "./textKey";
import { isUrl, shortName } from "../gguf/ggufModelSource";
import { withRemoteHeader } from "../gguf/remoteHeader";
import { mostReadBytes } from "../reading/readDirectly";
import { readRegular } from "../reading/regularFile";
import { TimeLimitError } from "../waiting/within";
import { withLimit } from "../waiting/withLimit";

export interface GgufTokenizerOptions {
  readonly signal: AbortSignal;
  /** Where compiled vocabularies are kept; without it nothing is. */
  readonly cacheDir?: string;
  /** The bundled worker program; the one beside this program where it is not named. */
  readonly workerFile?: string | URL;
  /** Threads at most. */
  readonly workers?: number;
  /** A worker died and its work is done again. */
  readonly onCrash?: (cause: Error) => void;
}

/** The tokenizer of a GGUF file, offline and exact. */
export interface GgufTokenizer extends Tokenizer {
  /** Equal for vocabularies and code that give the same tokens: a key for counts that are kept. */
  readonly fingerprint: string;
  readonly ends: PromptEnds;
  countPromptPieces(pieces: readonly string[], signal: AbortSignal): Promise<number>;
  countFiles(files: readonly FileToCount[], signal: AbortSignal): Promise<readonly ReadCount[]>;
  /** Token ids; bytes are taken as they are. */
  encode(text: string | Uint8Array, flags: TokenizeFlags, signal: AbortSignal): Promise<Int32Array>;
  /** Ends the threads. */
  close(): Promise<void>;
}

/** More threads mostly repeat each other's cache misses. */
const mostWorkers = 4;
const mib = 2 ** 20;

/** On two cores the thread that lists takes its part, and a second one that counts makes hardly anything faster. */
function threadsOf(cores: number): { readonly size: number; readonly bytesPerThread: number } {
  if (cores <= 2) return { size: 2, bytesPerThread: 32 * mib };
  return { size: Math.min(mostWorkers, cores - 1), bytesPerThread: 4 * mib };
}

/**
 * Opens the vocabulary of a GGUF file, or of one at an http(s) address, on a worker thread.
 * @throws UserError when the file or its vocabulary is broken or its tokenizer is not known.
 */
export async function openGgufTokenizer(file: string, options: GgufTokenizerOptions): Promise<GgufTokenizer> {
  const workerFile = options.workerFile ?? workerProgram();
  if (workerFile === undefined)
    throw new Error("no worker.js beside this program: build first, or name the worker");
  const workers = new TokenWorkers({
    workerFile,
    ...(options.workers === undefined ? threadsOf(availableParallelism()) : { size: options.workers }),
    ...(options.onCrash ? { onCrash: options.onCrash } : {}),
  });
  try {
    const cacheDir = options.cacheDir === undefined ? {} : { cacheDir: options.cacheDir };
    const opened = isUrl(file)
      ? // of a file that is gone afterwards nothing is kept
        await withRemoteHeader(file, options.signal, (header) =>
          workers.run({ kind: "open", file: header }, undefined, options.signal),
        )
      : await workers.run({ kind: "open", file, ...cacheDir }, undefined, options.signal);
    if (opened.kind !== "opened") throw new Error(`a worker answered ${opened.kind} to open`);
    const { keys, block, fingerprint, splitsByRegex, ends } = opened;
    const identity: TokenizerIdentity = {
      source: "gguf",
      model: keys.name === "" ? path.basename(shortName(file)) : keys.name,
      pre: keys.pre ?? keys.model,
      splitsByRegex,
    };
    return new PooledTokenizer(workers, block, {
      identity,
      ends,
      fingerprint: `${fingerprint} ${await programKey(workerFile)}`,
    });
  } catch (error) {
    await workers.close();
    throw error;
  }
}

const maxProgramBytes = 64 * mib;

/** Other code may count otherwise. */
async function programKey(file: string | URL): Promise<string> {
  return keyOf(
    await readRegular(typeof file === "string" ? file : fileURLToPath(file), { most: maxProgramBytes }),
  );
}

/** Of texts by themselves. */
const ofTexts = { addSpecial: false, parseSpecial: true };

/** For a batch of files, with those that are counted before it. */
const fileLimitMs = 120_000;

class PooledTokenizer implements GgufTokenizer {
  readonly identity: TokenizerIdentity;
  readonly fingerprint: string;
  readonly ends: PromptEnds;

  constructor(
    private readonly workers: TokenWorkers,
    private readonly block: SharedArrayBuffer,
    { identity, fingerprint, ends }: Pick<GgufTokenizer, "identity" | "fingerprint" | "ends">,
  ) {
    this.identity = identity;
    this.fingerprint = fingerprint;
    this.ends = ends;
  }

  async count(texts: readonly string[], signal: AbortSignal): Promise<readonly CountedText[]> {
    const answer = await this.run({ kind: "count", texts, flags: ofTexts }, signal);
    return answer.kind === "counted" ? answer.tokens.map((tokens) => ({ tokens })) : unexpected(answer);
  }

  async countFiles(files: readonly FileToCount[], signal: AbortSignal): Promise<readonly ReadCount[]> {
    const task = { kind: "countFiles", files, flags: ofTexts, mostBytes: mostReadBytes } as const;
    try {
      const answer = await withLimit(signal, fileLimitMs, (both) => this.run(task, both));
      return answer.kind === "countedFiles" ? answer.files : unexpected(answer);
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error;
      // a disk or network that does not answer: whoever asked reads them with limits of its own
      return files.map(() => ({ kind: "unread" }));
    }
  }

  async countPrompt(prompt: string, signal: AbortSignal): Promise<number> {
    const flags = { addSpecial: true, parseSpecial: true };
    const answer = await this.run({ kind: "count", texts: [prompt], flags }, signal);
    return (answer.kind === "counted" ? answer.tokens[0] : undefined) ?? unexpected(answer);
  }

  async countPromptPieces(pieces: readonly string[], signal: AbortSignal): Promise<number> {
    const flags = { addSpecial: true, parseSpecial: true };
    const bytes = await sharedUtf8(pieces, signal);
    const answer = await this.run({ kind: "countBytes", bytes, flags }, signal);
    return (answer.kind === "counted" ? answer.tokens[0] : undefined) ?? unexpected(answer);
  }

  async encode(text: string | Uint8Array, flags: TokenizeFlags, signal: AbortSignal): Promise<Int32Array> {
    const answer = await this.run({ kind: "encode", text, flags }, signal);
    return answer.kind === "encoded" ? answer.ids : unexpected(answer);
  }

  close(): Promise<void> {
    return this.workers.close();
  }

  private run(task: TokenTask, signal: AbortSignal): Promise<TokenAnswer> {
    return this.workers.run(task, this.block, signal);
  }
}

/** Characters written between two turns of the event loop; two or three milliseconds. */
const charactersPerTurn = 1 << 20;

/** The pieces one after the other; lone surrogates become U+FFFD, also where a pair is cut by the end of a piece. */
async function sharedUtf8(pieces: readonly string[], signal: AbortSignal): Promise<SharedArrayBuffer> {
  const slices = Array.from(slicesOf(pieces));
  let size = 0;
  for (const [at, slice] of slices.entries()) {
    size += Buffer.byteLength(slice);
    if (at % 64 === 63) await turn(signal);
  }
  const shared = new SharedArrayBuffer(size);
  const bytes = Buffer.from(shared);
  let at = 0;
  let untilTurn = charactersPerTurn;
  for (const slice of slices) {
    at += bytes.write(slice, at);
    untilTurn -= slice.length;
    if (untilTurn > 0) continue;
    untilTurn = charactersPerTurn;
    await turn(signal);
  }
  return shared;
}

/** No slice is longer than what is written at a turn, and none ends within a surrogate pair. */
function* slicesOf(pieces: readonly string[]): Iterable<string> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length;) {
      let end = Math.min(piece.length, start + charactersPerTurn);
      const last = piece.charCodeAt(end - 1);
      if (end < piece.length && last >= 0xd800 && last <= 0xdbff) end--;
      yield piece.slice(start, end);
      start = end;
    }
  }
}

async function turn(signal: AbortSignal): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}

function unexpected(answer: TokenAnswer): never {
  throw new Error(`a worker answered ${answer.kind}`);
}
