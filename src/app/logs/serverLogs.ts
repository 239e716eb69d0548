import { LedgerReader, type Ledger } from "../../core/conversation/ledger";
import { FollowedLog } from "../../node/reading/followedLog";

export interface ReadLog {
  readonly ledger: Ledger;
  /** When the log was written last: milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** The requests of a llama-server's log file, which may still grow: every `read` adds what was written since. */
export class ServerLog {
  private readonly ledger = new LedgerReader();
  private readonly log: FollowedLog;

  constructor(file: string) {
    this.log = new FollowedLog(file, (line) => this.ledger.readLine(line));
  }

  async read(signal: AbortSignal): Promise<ReadLog> {
    const { writtenAt } = await this.log.read(signal);
    return { ledger: this.ledger.result(), writtenAt };
  }

  /** The same of a log that is finished: its last line counts without an end. */
  async readWhole(signal: AbortSignal): Promise<ReadLog> {
    const { writtenAt } = await this.log.read(signal);
    this.log.flush();
    return { ledger: this.ledger.result(), writtenAt };
  }
}
