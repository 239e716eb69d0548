import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import type { Tokenizer } from "../core/ports";
import type { LongRun } from "../core/tokens/longRuns";
import type { CountedText, TokenizerIdentity } from "../core/tokens/tokenCount";
import type { TokenAnswer, TokenizeFlags, TokenTask } from "./tokenWorkerMessages";
import { TokenWorkers } from "./tokenWorkers";

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
  /** Equal for vocabularies that give the same tokens: a key for counts that are kept. */
  readonly fingerprint: string;
  /** As `count`, with the runs of characters that may crash llama.cpp's own tokenizer. */
  countWithRisks(texts: readonly string[], signal: AbortSignal): Promise<readonly CountedWithRisk[]>;
  /** Token ids; bytes are taken as they are. */
  encode(text: string | Uint8Array, flags: TokenizeFlags, signal: AbortSignal): Promise<Int32Array>;
  /** Ends the threads. */
  close(): Promise<void>;
}

export interface CountedWithRisk extends CountedText {
  readonly longRun?: LongRun;
}

/** More threads mostly repeat each other's cache misses. */
const mostWorkers = 4;

/**
 * Opens the vocabulary of a GGUF file on a worker thread.
 * @throws UserError when the file or its vocabulary is broken or its tokenizer is not known.
 */
export async function openGgufTokenizer(file: string, options: GgufTokenizerOptions): Promise<GgufTokenizer> {
  const size = options.workers ?? Math.max(1, Math.min(mostWorkers, availableParallelism() - 1));
  const workers = new TokenWorkers({
    workerFile: options.workerFile ?? besideThisProgram(),
    size,
    ...(options.onCrash ? { onCrash: options.onCrash } : {}),
  });
  try {
    const cacheDir = options.cacheDir === undefined ? {} : { cacheDir: options.cacheDir };
    const opened = await workers.run({ kind: "open", file, ...cacheDir }, undefined, options.signal);
    if (opened.kind !== "opened") throw new Error(`a worker answered ${opened.kind} to open`);
    const { keys, block, fingerprint } = opened;
    const identity: TokenizerIdentity = {
      source: "gguf",
      model: keys.name === "" ? path.basename(file) : keys.name,
      pre: keys.pre ?? keys.model,
    };
    return new PooledTokenizer(workers, block, identity, fingerprint);
  } catch (error) {
    await workers.close();
    throw error;
  }
}

function besideThisProgram(): string {
  const file = path.join(__dirname, "worker.js");
  if (!existsSync(file)) throw new Error(`${file} is not there: build first, or name the worker program`);
  return file;
}

class PooledTokenizer implements GgufTokenizer {
  constructor(
    private readonly workers: TokenWorkers,
    private readonly block: SharedArrayBuffer,
    readonly identity: TokenizerIdentity,
    readonly fingerprint: string,
  ) {}

  async count(texts: readonly string[], signal: AbortSignal): Promise<readonly CountedText[]> {
    return (await this.counted(texts, false, signal)).tokens.map((tokens) => ({ tokens }));
  }

  async countWithRisks(texts: readonly string[], signal: AbortSignal): Promise<readonly CountedWithRisk[]> {
    const { tokens, longRuns } = await this.counted(texts, true, signal);
    return tokens.map((each, i) => {
      const longRun = longRuns[i];
      return longRun ? { tokens: each, longRun } : { tokens: each };
    });
  }

  async countPrompt(prompt: string, signal: AbortSignal): Promise<number> {
    const flags = { addSpecial: true, parseSpecial: true };
    const answer = await this.run({ kind: "count", texts: [prompt], flags, longRuns: false }, signal);
    return (answer.kind === "counted" ? answer.tokens[0] : undefined) ?? unexpected(answer);
  }

  async encode(text: string | Uint8Array, flags: TokenizeFlags, signal: AbortSignal): Promise<Int32Array> {
    const answer = await this.run({ kind: "encode", text, flags }, signal);
    return answer.kind === "encoded" ? answer.ids : unexpected(answer);
  }

  close(): Promise<void> {
    return this.workers.close();
  }

  private async counted(texts: readonly string[], longRuns: boolean, signal: AbortSignal) {
    const flags = { addSpecial: false, parseSpecial: true };
    const answer = await this.run({ kind: "count", texts, flags, longRuns }, signal);
    return answer.kind === "counted" ? answer : unexpected(answer);
  }

  private run(task: TokenTask, signal: AbortSignal): Promise<TokenAnswer> {
    return this.workers.run(task, this.block, signal);
  }
}

function unexpected(answer: TokenAnswer): never {
  throw new Error(`a worker answered ${answer.kind}`);
}
