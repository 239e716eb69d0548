import type { Ledger } from "../../core/conversation/ledger";
import type { ConversationSource, LedgerUpdate } from "../../core/conversation/source";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { watchedFile } from "../../node/reading/watchedFile";
import { findLog, type FoundLog, type LogSourceHost } from "./logSource";
import { ServerLog } from "./serverLogs";

/** A server writes several lines at once. */
const settleMs = 150;
/** Looking for a server's log lists the processes of the machine. */
const searchMs = 120_000;
/** A server that was restarted may write another one. */
const searchAgainMs = 5000;
/** A request that is silent for so long may have ended with its server, which writes nothing then. */
const silentMs = 60_000;
/** Logs that are kept, so that a view that comes back reads only what was written meanwhile. */
const keptLogs = 4;

export interface OnceRead {
  readonly source: ConversationSource;
  readonly ledger: Ledger;
  /** When the log was written last: milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** The requests of the server in use, as its log tells them while it grows. */
export class LiveLedger {
  readonly #logs = new Map<string, ServerLog>();

  constructor(private readonly host: LogSourceHost) {}

  /** Tells what the log says now, and again whenever it says more, until it is disposed. Nothing is read before and after. */
  follow(show: (update: LedgerUpdate) => void): Promise<{ dispose(): void }> {
    return Promise.resolve(new Following(this.host, (found) => this.#log(found), show));
  }

  /**
   * What the log says now, once. Undefined where there is none.
   * @throws UserError where it cannot be read
   */
  async read(signal: AbortSignal): Promise<OnceRead | undefined> {
    const found = await findLog(this.host, signal);
    if (found === undefined) return undefined;
    const { ledger, writtenAt } = await this.#log(found).read(signal);
    return { source: found.source, ledger, writtenAt };
  }

  #log({ file, source }: FoundLog): ServerLog {
    const log = this.#logs.get(file) ?? new ServerLog(file, source.file);
    this.#logs.delete(file);
    this.#logs.set(file, log);
    const [oldest] = this.#logs.keys();
    if (this.#logs.size > keptLogs && oldest !== undefined) this.#logs.delete(oldest);
    return log;
  }
}

class Following {
  readonly #ended = new AbortController();
  #watch: { dispose(): void } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #reading = false;
  #changed = false;
  #last: LedgerUpdate = {};

  constructor(
    private readonly host: LogSourceHost,
    private readonly logOf: (found: FoundLog) => ServerLog,
    private readonly show: (update: LedgerUpdate) => void,
  ) {
    this.#begin(this.#search());
  }

  dispose(): void {
    this.#ended.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#silence);
    this.#watch?.dispose();
  }

  async #search(): Promise<void> {
    const found = await findLog(this.host, this.#ended.signal).catch(() => undefined);
    if (this.#ended.signal.aborted) return;
    if (found === undefined) {
      this.#tell(withoutRunning(this.#last));
      this.#later(searchMs, () => this.#begin(this.#search()));
      return;
    }
    // before it is read: what is written meanwhile is read once more
    this.#watch = watchedFile(found.file, () => this.#noticed(found));
    await this.#read(found);
  }

  #noticed(found: FoundLog): void {
    if (this.#reading || this.#timer !== undefined) this.#changed = true;
    else this.#later(settleMs, () => this.#begin(this.#read(found)));
  }

  async #read(found: FoundLog): Promise<void> {
    const { source } = found;
    this.#reading = true;
    this.#changed = false;
    clearTimeout(this.#silence);
    try {
      const { ledger, startedAt } = await this.logOf(found).read(this.#ended.signal);
      this.#tell({ source, ledger, startedAt });
      if (source.kind === "commandLine" && ledger.running.length > 0) this.#listen(found);
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      const { problem, remedy } =
        error instanceof UserError
          ? error
          : { problem: say`${source.file} cannot be read.`, remedy: say`Specify an existing log.` };
      const { problem: _, ...before } = this.#last;
      this.#tell({ ...before, source, problem: { problem, remedy } });
      // its server may be gone, or have another log now
      if (source.kind === "commandLine") {
        this.#watch?.dispose();
        this.#later(searchAgainMs, () => this.#begin(this.#search()));
        return;
      }
    } finally {
      this.#reading = false;
    }
    if (this.#isBehind) this.#later(settleMs, () => this.#begin(this.#read(found)));
  }

  /** Whether its server is still there, where a request has begun and nothing more is written. */
  #listen({ file }: FoundLog): void {
    this.#silence = setTimeout(() => {
      const looked = findLog(this.host, this.#ended.signal)
        .catch(() => undefined)
        .then((found) => {
          if (this.#ended.signal.aborted || this.#reading) return;
          if (found?.file === file) {
            this.#listen(found);
            return;
          }
          this.#watch?.dispose();
          this.#begin(this.#search());
        });
      this.#begin(looked);
    }, silentMs);
    this.#silence.unref();
  }

  /** It was written to while it was read. */
  get #isBehind(): boolean {
    return this.#changed;
  }

  #later(ms: number, work: () => void): void {
    clearTimeout(this.#timer);
    if (this.#ended.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      work();
    }, ms);
    this.#timer.unref();
  }

  /** What fails unexpectedly is told like a log that cannot be read. */
  #begin(work: Promise<void>): void {
    work.catch((error: unknown) => {
      const problem = say`The log cannot be followed: ${error instanceof Error ? error.message : String(error)}`;
      this.#tell({ ...this.#last, problem: { problem, remedy: say`Choose another log.` } });
    });
  }

  #tell(update: LedgerUpdate): void {
    if (this.#ended.signal.aborted) return;
    this.#last = update;
    this.show(update);
  }
}

/** What a server had begun ended with it. */
function withoutRunning({ ledger, ...rest }: LedgerUpdate): LedgerUpdate {
  return { ...rest, ...(ledger !== undefined && { ledger: { ...ledger, running: [] } }) };
}
