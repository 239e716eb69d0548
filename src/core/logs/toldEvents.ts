import { remedyOf, type Cause } from "../causes/cause";
import type { CauseName } from "../causes/causes";
import { given } from "../given";
import type { EventSeverity, LogEvent } from "./logEvent";
import type { LogFacts } from "./reading/logFacts";
import type { LogLine } from "./reading/logLine";
import { unknownError } from "./unknownError";

/** Events of these causes had a name of their own before the causes had one. */
const kinds: Readonly<Record<string, string>> = {
  cacheFills: "kvOutOfMemory",
  contextDivided: "contextExceeded",
  contextTooSmall: "contextExceeded",
  cacheInMainMemory: "computeWithoutFlashAttn",
  fileTooNew: "fileBroken",
  noSuchAddress: "portInUse",
  notGguf: "fileBroken",
  presetKey: "presetRefused",
  presetUnreadable: "presetRefused",
  removedArgument: "invalidValue",
  wholeTrainingContext: "hostOutOfMemory",
} satisfies Partial<Record<CauseName, string>>;

/** Lines in front of an error within which a later error counts as its consequence. */
const chain = 40;
/** Lines in front of a known error, or of a second attempt, within which an error belongs to it. */
const near = 12;
/** Lines quoted in front of an unknown error, and behind it. */
const quotedLines = 2;
/** The same kind is told this often; a server that fails every request would fill pages. */
const maxPerKind = 20;
interface Told {
  readonly event: LogEvent;
  readonly source: string;
  readonly isUnknown: boolean;
}

/** The events so far. Servers that share a log, as those of a router do, fail each for themselves. */
export class ToldEvents {
  private readonly all: Told[] = [];
  private readonly times = new Map<string, number>();
  private readonly last = new Map<string, number>();
  private readonly lastError = new Map<string, number>();

  failed(source: string): boolean {
    return this.lastError.has(source) || this.all.some((one) => one.isUnknown && one.source === source);
  }

  erred({ number, source = "" }: LogLine): void {
    this.lastError.set(source, number);
  }

  isConsequence({ number, source = "" }: LogLine): boolean {
    return number - (this.lastError.get(source) ?? -Infinity) <= chain;
  }

  known(line: LogLine, severity: EventSeverity, found: Cause): void {
    const { number, source = "" } = line;
    const kind = kinds[found.id] ?? found.id;
    if (severity === "error") this.erred(line);
    // what is known explains the errors in front of it, and they the load that failed
    if (severity === "error" && !this.dropUnknown(found, line)) return;
    const key = `${source} ${kind}`;
    // a trial run of -fit and the real load say the same thing twice
    const repeated = number - (this.last.get(key) ?? -Infinity) <= chain && severity !== "information";
    this.last.set(key, number);
    const times = (this.times.get(kind) ?? 0) + 1;
    if (times > maxPerKind || (repeated && !/Exceeded|Cut|invalid/i.test(kind))) return;
    this.times.set(kind, times);
    this.tell(line, severity, kind, found);
  }

  unknown(line: LogLine, facts: LogFacts, lines: readonly LogLine[]): void {
    const { number, source = "" } = line;
    if (this.isConsequence(line)) return;
    const key = `${source} unknown`;
    const repeated = number - (this.last.get(key) ?? -Infinity) <= near;
    this.last.set(key, number);
    const times = (this.times.get("unknownError") ?? 0) + 1;
    if (repeated || times > maxPerKind) return;
    this.times.set("unknownError", times);
    const around = lines
      .slice(Math.max(0, number - 1 - quotedLines), number + quotedLines)
      .map((one) => ({ line: one.number, text: one.text.slice(0, 400) }));
    this.tell(line, "error", "unknownError", unknownError(line, facts), around);
  }

  /** What failed just now was tried again in another way. */
  recovered({ number, source = "" }: LogLine): void {
    this.lastError.delete(source);
    this.drop(
      ({ event, isUnknown }) =>
        event.line >= number - near && (isUnknown || /OutOfMemory$|^absurd/.test(event.kind)),
      source,
    );
  }

  result(): LogEvent[] {
    return this.all.map(({ event }) => event);
  }

  /** @returns whether the known error adds anything to the unknown one. */
  private dropUnknown(found: Cause, { number, source = "" }: LogLine): boolean {
    const adds = found.id !== "loadFailed";
    if (adds) this.drop((one) => one.isUnknown && one.event.line >= number - near, source);
    return adds || !this.all.some((one) => one.isUnknown && one.source === source);
  }

  private drop(which: (one: Told) => boolean, source: string): void {
    for (let index = this.all.length - 1; index >= 0; index--) {
      const one = this.all[index];
      if (one === undefined || one.source !== source || !which(one)) continue;
      this.all.splice(index, 1);
      this.last.delete(`${source} ${one.isUnknown ? "unknown" : one.event.kind}`);
    }
  }

  private tell(
    { number, text, source = "" }: LogLine,
    severity: EventSeverity,
    kind: string,
    found: Cause,
    around?: LogEvent["around"],
  ): void {
    const message = text.trim().slice(0, 400);
    const words = { cause: found.sentence, remedy: remedyOf(found) };
    const event = { line: number, kind, severity, message, ...words, ...given({ around }) };
    this.all.push({ event, source, isUnknown: around !== undefined });
  }
}
