import { FactReader } from "../logs/reading/factReader";
import type { LogFacts } from "../logs/reading/logFacts";
import { readLogLine, type LogLine } from "../logs/reading/logLine";
import { SlotLine, type LineBytes } from "../logs/reading/slotLine";
import type { RequestRecord, RunningRequest } from "./requestRecord";
import { serverEvent, slotEvent } from "./serverEvent";
import { ServerLedger } from "./serverLedger";

/** What a log says of a server's requests. */
export interface Ledger {
  /** The last ones, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** How many there were before those. */
  readonly earlier: number;
  readonly running: readonly RunningRequest[];
  /** Starts of servers in the log, in order, with what their lines say of model, build and options. */
  readonly servers: readonly LoggedServer[];
  readonly lines: number;
  /** Lines that decide something in words this reader does not know, and the first of them. */
  readonly unknown: { readonly lines: number; readonly example?: string };
}

export interface LoggedServer {
  readonly source?: string;
  /** From 1, by source. */
  readonly start: number;
  readonly limit?: number;
  /** Stamp of its last line: seconds since the server's start. */
  readonly lastSeconds?: number;
  /** Its stamps jump back and forth: several servers write into this log at once, and nothing tells their lines apart. */
  readonly mixed?: true;
  readonly facts: LogFacts;
}

/** Requests that are kept; a log of half a gigabyte holds half a million. */
const keptRequests = 5000;
const keptServers = 64;
/** A load writes some hundred lines, with `-lv 5` thousands. */
const mostLoadLines = 20_000;

/** Threads of one server write their lines a little out of order. */
const jumpSeconds = 1;
/** One jump back is a start that was not worded as one. */
const mixedJumps = 3;

interface Source {
  start: number;
  ledger: ServerLedger;
  facts: FactReader;
  loadLines: number;
  loaded: boolean;
  lastSeconds?: number;
  /** How often a stamp was older than the one before. */
  backwards: number;
}

interface FinishedServer {
  readonly source: string;
  readonly start: number;
  readonly limit: number | undefined;
  readonly lastSeconds: number | undefined;
  readonly mixed: boolean;
  readonly facts: LogFacts;
}

/** Reads the lines of a log as they come. */
export class LedgerReader {
  private readonly sources = new Map<string, Source>();
  private finished: FinishedServer[] = [];
  private requests: RequestRecord[] = [];
  private numbers = 0;
  private conversations = 0;
  private lines = 0;
  private unknown = 0;
  private example: string | undefined;
  private readonly slotLine = new SlotLine();

  /** The same as `readText`, for a long log: most lines say nothing, and no string is made of those. */
  readLine(line: LineBytes): RequestRecord | undefined {
    const head = this.slotLine;
    const source = this.sources.get("");
    if (source?.loaded !== true || !head.read(line)) return this.readText(line.text(line.from, line.to));
    source.lastSeconds = head.seconds;
    if (head.idle(line.bytes)) {
      this.lines++;
      return undefined;
    }
    const event = slotEvent(line.ascii(head.message, line.to));
    if (event === undefined || event === "unknown") return this.readText(line.text(line.from, line.to));
    this.lines++;
    return this.keep(source.ledger.readSlot(head.slot, head.task, event, head.seconds));
  }

  /** The request that ended with the line, if one did. */
  readText(text: string): RequestRecord | undefined {
    return this.read(readLogLine(text, this.lines + 1));
  }

  private read(line: LogLine): RequestRecord | undefined {
    this.lines++;
    const event = serverEvent(line.text);
    const name = line.source ?? "";
    let source = this.sources.get(name);
    if (event === undefined) {
      if (line.text === "") return undefined;
      source ??= this.addSource(name);
      keepStamp(source, line);
      readFacts(source, line);
      return undefined;
    }
    if (event === "unknown") {
      this.unknown++;
      this.example ??= line.text.slice(0, 200);
      return undefined;
    }
    source ??= this.addSource(name);
    if (event.kind === "serverStart" && source.ledger.used) source = this.restart(name, source);
    keepStamp(source, line);
    if (event.kind === "serverStart" || event.kind === "slots") readFacts(source, line);
    return this.keep(source.ledger.read(event, line.seconds));
  }

  private keep(record: RequestRecord | undefined): RequestRecord | undefined {
    if (record === undefined) return undefined;
    this.requests.push(record);
    if (this.requests.length > keptRequests * 2) this.requests = this.requests.slice(-keptRequests);
    return record;
  }

  result(): Ledger {
    const requests = this.requests.slice(-keptRequests);
    return {
      requests,
      earlier: this.numbers - requests.length,
      running: [...this.sources].flatMap(([source, { ledger }]) =>
        ledger.running().map((running) => ({ ...(source !== "" && { source }), ...running })),
      ),
      servers: [
        ...this.finished,
        ...[...this.sources].map(([source, { start, ledger, lastSeconds, backwards, facts }]) => ({
          source,
          start,
          limit: ledger.limit,
          lastSeconds,
          mixed: backwards >= mixedJumps,
          facts: facts.result(),
        })),
      ].map(({ source, start, limit, lastSeconds, mixed, facts }) => ({
        ...(source !== "" && { source }),
        start,
        ...(limit !== undefined && { limit }),
        ...(lastSeconds !== undefined && { lastSeconds }),
        ...(mixed && { mixed }),
        facts,
      })),
      lines: this.lines,
      unknown: { lines: this.unknown, ...(this.example !== undefined && { example: this.example }) },
    };
  }

  private addSource(name: string): Source {
    const source = this.newSource(name, 1);
    this.sources.set(name, source);
    return source;
  }

  private newSource(source: string, start: number): Source {
    return {
      start,
      ledger: new ServerLedger(
        { source, start },
        { record: () => ++this.numbers, conversation: () => ++this.conversations },
      ),
      facts: new FactReader(),
      loadLines: 0,
      loaded: false,
      backwards: 0,
    };
  }

  private restart(name: string, { start, ledger, lastSeconds, backwards, facts }: Source): Source {
    const { limit } = ledger;
    const mixed = backwards >= mixedJumps;
    this.finished.push({ source: name, start, limit, lastSeconds, mixed, facts: facts.result() });
    if (this.finished.length > keptServers) this.finished.shift();
    const source = this.newSource(name, start + 1);
    this.sources.set(name, source);
    return source;
  }
}

function keepStamp(source: Source, { seconds }: LogLine): void {
  if (seconds === undefined) return;
  if (source.lastSeconds !== undefined && seconds < source.lastSeconds - jumpSeconds) source.backwards++;
  source.lastSeconds = seconds;
}

/** Model, build and options are told while the model is loaded; what is written later is not looked through for them. */
function readFacts(source: Source, line: LogLine): void {
  if (source.loaded || source.loadLines > mostLoadLines) return;
  source.loadLines++;
  source.facts.read(line);
  if (line.text.includes("listening on http")) source.loaded = true;
}

export function ledgerOf(text: string): Ledger {
  const reader = new LedgerReader();
  for (const line of text.split(/\r?\n/)) reader.readText(line);
  return reader.result();
}
