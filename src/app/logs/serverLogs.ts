import { LedgerReader, type Ledger } from "../../core/conversation/ledger";
import { serverKey } from "../../core/conversation/source";
import { FollowedLog } from "../../node/reading/followedLog";

export interface ReadLog {
  readonly ledger: Ledger;
  /** When the log was written last: milliseconds since the epoch. */
  readonly writtenAt: number;
  /** Starts of servers by `serverKey`: milliseconds since the epoch, from the stamps of lines and when they were written. */
  readonly startedAt: ReadonlyMap<string, number>;
}

/** The requests of a llama-server's log file, which may still grow: every `read` adds what was written since. */
export class ServerLog {
  private readonly ledger = new LedgerReader();
  private readonly log: FollowedLog;
  private readonly startedAt = new Map<string, number>();
  private latest: Promise<unknown> = Promise.resolve();

  /** `named`: the file as people know it, where it is reached by another path. */
  constructor(file: string, named = file) {
    this.log = new FollowedLog(file, (line) => this.ledger.readLine(line), named);
  }

  read(signal: AbortSignal): Promise<ReadLog> {
    return this.after(async () => this.result((await this.log.read(signal)).writtenAt));
  }

  /** The same of a log that is finished: its last line counts without an end. */
  readWhole(signal: AbortSignal): Promise<ReadLog> {
    return this.after(async () => {
      const { writtenAt } = await this.log.read(signal);
      this.log.flush();
      return this.result(writtenAt);
    });
  }

  /** A read begins where the one before ended, also where that was broken off. */
  private after(read: () => Promise<ReadLog>): Promise<ReadLog> {
    const next = this.latest.then(read, read);
    this.latest = next;
    return next;
  }

  private result(writtenAt: number): ReadLog {
    const ledger = this.ledger.result();
    // a line cannot be younger than the file; the closest look is the best
    const newest = new Map(ledger.servers.map((server) => [server.source, server]));
    for (const server of newest.values()) {
      if (server.lastSeconds === undefined) continue;
      const start = writtenAt - server.lastSeconds * 1000;
      const key = serverKey(server);
      this.startedAt.set(key, Math.min(start, this.startedAt.get(key) ?? Infinity));
    }
    return { ledger, writtenAt, startedAt: this.startedAt };
  }
}
