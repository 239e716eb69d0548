import type { Cause, CauseText } from "../causes/cause";
import type { LogFacts } from "./reading/logFacts";
import type { LogLine } from "./reading/logLine";

/** What an explanation may look at besides its own line. */
export interface LogView {
  readonly facts: LogFacts;
  /** The line's neighbours: up to `before` lines in front, up to `after` behind, joined. */
  around(line: LogLine, before: number, after: number): string;
  /** First line in front of this one that matches, the nearest first. */
  earlier(line: LogLine, pattern: RegExp): RegExpExecArray | undefined;
  /** Has an error of this source been told, of the server at this port of a router, for example? */
  failed(source: string): boolean;
}

export type EventSeverity = "error" | "warning" | "information";

/** How a kind of line is recognised, and which cause of the catalogue it shows. */
export interface Explanation {
  readonly severity: EventSeverity;
  readonly pattern: RegExp;
  /** Follows from an earlier error of the same load: only told when there is none. */
  readonly consequence?: true;
  readonly explain: (match: RegExpExecArray, line: LogLine, log: LogView) => Cause | undefined;
}

export interface QuotedLine {
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** A line worth explaining. */
export interface LogEvent {
  /** From 1. */
  readonly line: number;
  /** The cause's name, or the older name that readers of the JSON know it by. */
  readonly kind: string;
  readonly severity: EventSeverity;
  /** llama.cpp's own words. */
  readonly message: string;
  readonly cause: CauseText;
  readonly remedy: CauseText;
  /** An error that is not known, with the lines around it. */
  readonly around?: readonly QuotedLine[];
}
