import { Worker } from "node:worker_threads";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import type { TokenAnswer, TokenReply, TokenRequest, TokenTask } from "./tokenWorkerMessages";

export interface TokenWorkersOptions {
  /** The bundled worker program. */
  readonly workerFile: string | URL;
  /** Threads at most. */
  readonly size: number;
  /**
   * Bytes that are given before a second thread starts, as many again for each further one: it has to learn what the first
   * knows already, half a second's work. Default: none.
   */
  readonly bytesPerThread?: number;
  /** A worker died; what it worked on is done once more. */
  readonly onCrash?: (cause: Error) => void;
  /** Memory a worker's own heap may take. */
  readonly heapMegabytes?: number;
}

/** A worker that does not stop within this time after a cancel is ended. */
const cancelGraceMs = 1_000;
/** Workers without work end after this time. */
const idleMs = 60_000;
const crashesPerJob = 2;
/** What threads hold lives in typed arrays: there is little to collect. */
const youngMegabytes = 8;

interface Job {
  readonly task: TokenTask;
  readonly block?: SharedArrayBuffer;
  readonly cancelled: SharedArrayBuffer;
  readonly resolve: (answer: TokenAnswer) => void;
  readonly reject: (error: unknown) => void;
  crashes: number;
  settled: boolean;
}

/**
 * Worker threads that tokenize. A cancelled call rejects at once; its worker goes on to the next job at its next
 * checkpoint. A worker that dies is replaced and its job done again, once.
 */
export class TokenWorkers {
  private readonly threads = new Set<Thread>();
  private readonly waiting: Job[] = [];
  private closed = false;
  /** Of everything since there last was nothing to do. */
  private bytesGiven = 0;

  constructor(private readonly options: TokenWorkersOptions) {}

  run(task: TokenTask, block: SharedArrayBuffer | undefined, signal: AbortSignal): Promise<TokenAnswer> {
    return new Promise<TokenAnswer>((resolve, reject) => {
      signal.throwIfAborted();
      if (this.closed) throw new Error("the token workers are closed");
      const onAbort = () => {
        this.cancel(job);
        job.reject(signal.reason);
      };
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          if (job.settled) return;
          job.settled = true;
          signal.removeEventListener("abort", onAbort);
          then(value);
        };
      const job: Job = {
        task,
        ...(block ? { block } : {}),
        cancelled: new SharedArrayBuffer(4),
        resolve: settle(resolve),
        reject: settle(reject),
        crashes: 0,
        settled: false,
      };
      signal.addEventListener("abort", onAbort, { once: true });
      if (this.waiting.length === 0 && Array.from(this.threads).every(({ isFree }) => isFree))
        this.bytesGiven = 0;
      this.bytesGiven += bytesOf(task);
      // what somebody waits for at a keystroke goes before folders
      if (isSmall(task)) this.waiting.unshift(job);
      else this.waiting.push(job);
      this.dispatch();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    const error = new Error("the token workers are closed");
    for (const job of this.waiting.splice(0)) job.reject(error);
    await Promise.all(Array.from(this.threads, (thread) => thread.end(error)));
    this.threads.clear();
  }

  private cancel(job: Job): void {
    Atomics.store(new Int32Array(job.cancelled), 0, 1);
    const at = this.waiting.indexOf(job);
    if (at >= 0) this.waiting.splice(at, 1);
  }

  private dispatch(): void {
    for (let job = this.waiting[0]; job !== undefined; job = this.waiting[0]) {
      const thread = this.threadFor(job);
      if (!thread) return;
      this.waiting.shift();
      thread.start(job);
    }
  }

  private threadFor(job: Job): Thread | undefined {
    for (const thread of this.threads) if (thread.isFree) return thread;
    const { size, bytesPerThread = 0 } = this.options;
    if (this.threads.size >= size) return undefined;
    if (!isSmall(job.task) && this.bytesGiven < this.threads.size * bytesPerThread) return undefined;
    const thread = new Thread(this.options, {
      free: () => {
        this.dispatch();
      },
      gone: (job, cause) => {
        this.threads.delete(thread);
        if (job && !job.settled) this.again(job, cause);
        this.dispatch();
      },
    });
    this.threads.add(thread);
    return thread;
  }

  private again(job: Job, cause: Error): void {
    this.options.onCrash?.(cause);
    job.crashes++;
    if (!this.closed && job.crashes < crashesPerJob) this.waiting.unshift(job);
    else job.reject(crashed(cause));
  }
}

const crashed = (cause: Error): UserError =>
  new UserError(
    "outsideFailed",
    say`Counting tokens failed twice on the same text: ${cause.message}`,
    say`Exclude this file, or count with a running llama-server.`,
    { cause },
  );

function bytesOf(task: TokenTask): number {
  switch (task.kind) {
    case "count":
      return task.texts.reduce((sum, text) => sum + text.length, 0);
    case "countFiles":
      return task.files.reduce((sum, { file }) => sum + file.bytes, 0);
    case "countBytes":
      return task.bytes.byteLength;
    default:
      return 0;
  }
}

function isSmall(task: TokenTask): boolean {
  return task.kind === "count" && task.texts.length === 1 && (task.texts[0]?.length ?? 0) < 1 << 16;
}

interface ThreadEvents {
  free(): void;
  gone(job: Job | undefined, cause: Error): void;
}

class Thread {
  private readonly worker: Worker;
  private job: Job | undefined;
  private request = 0;
  private timer: NodeJS.Timeout | undefined;
  private isGone = false;

  constructor(
    options: TokenWorkersOptions,
    private readonly events: ThreadEvents,
  ) {
    this.worker = new Worker(options.workerFile, {
      resourceLimits: {
        maxOldGenerationSizeMb: options.heapMegabytes ?? 1024,
        maxYoungGenerationSizeMb: youngMegabytes,
      },
    });
    // a thread without work does not keep the program alive
    this.worker.unref();
    this.worker.on("message", (reply: TokenReply) => {
      this.receive(reply);
    });
    this.worker.on("error", (error: Error) => {
      this.leave(error);
    });
    this.worker.on("exit", (code) => {
      this.leave(new Error(`the worker ended with code ${code}`));
    });
  }

  get isFree(): boolean {
    return this.job === undefined && !this.isGone;
  }

  start(job: Job): void {
    clearTimeout(this.timer);
    this.job = job;
    this.worker.ref();
    const request: TokenRequest = {
      id: ++this.request,
      task: job.task,
      ...(job.block ? { block: job.block } : {}),
      cancelled: job.cancelled,
    };
    this.worker.postMessage(request);
    this.watchCancel(job);
  }

  async end(reason: Error): Promise<void> {
    this.isGone = true;
    clearTimeout(this.timer);
    this.job?.reject(reason);
    await this.worker.terminate();
  }

  private watchCancel(job: Job): void {
    const check = () => {
      if (this.job !== job) return;
      // settled while it is still worked on: it was cancelled; give it time to notice
      if (job.settled)
        this.timer = unrefTimer(() => this.job === job && void this.worker.terminate(), cancelGraceMs);
      else this.timer = unrefTimer(check, cancelGraceMs);
    };
    this.timer = unrefTimer(check, cancelGraceMs);
  }

  private receive(reply: TokenReply): void {
    const { job } = this;
    if (!job || reply.id !== this.request) return;
    this.job = undefined;
    clearTimeout(this.timer);
    this.timer = unrefTimer(() => {
      this.retire();
    }, idleMs);
    this.worker.unref();
    if ("answer" in reply) job.resolve(reply.answer);
    else if ("userError" in reply) {
      const { reason, problem, remedy } = reply.userError;
      job.reject(new UserError(reason, problem, remedy));
    } else if ("failure" in reply) job.reject(new Error(reply.failure));
    this.events.free();
  }

  /** It takes no more work, though it ends a little later. */
  private retire(): void {
    this.leave(new Error("the worker had nothing to do"));
    this.worker.terminate().catch(() => undefined);
  }

  private leave(cause: Error): void {
    if (this.isGone) return;
    this.isGone = true;
    clearTimeout(this.timer);
    this.events.gone(this.job, cause);
  }
}

function unrefTimer(then: () => void, ms: number): NodeJS.Timeout {
  const timer = setTimeout(then, ms);
  timer.unref();
  return timer;
}
