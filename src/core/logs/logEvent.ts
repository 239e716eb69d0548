import type { Text } from "../text";
import type { LogFacts } from "./reading/logFacts";
import type { LogLine } from "./reading/logLine";

/** What an explanation may look at besides its own line. */
export interface LogView {
  readonly facts: LogFacts;
  /** The line's neighbours: up to `before` lines in front, up to `after` behind, joined. */
  around(line: LogLine, before: number, after: number): string;
  /** First line in front of this one that matches, the nearest first. */
  earlier(line: LogLine, pattern: RegExp): RegExpExecArray | undefined;
}

export type EventSeverity = "error" | "warning" | "information";

/** How a kind of line is recognised and explained. */
export interface Explanation {
  readonly kind: string;
  readonly severity: EventSeverity;
  readonly pattern: RegExp;
  /** Follows from an earlier error of the same load: only told when there is none. */
  readonly consequence?: true;
  readonly explain: (match: RegExpExecArray, line: LogLine, log: LogView) => Explained | undefined;
}

export interface Explained {
  readonly cause: Text;
  readonly remedy: Text;
  /** Replaces the explanation's kind where the circumstances tell more. */
  readonly kind?: string;
}

/** A line worth explaining. */
export interface LogEvent {
  /** From 1. */
  readonly line: number;
  readonly kind: string;
  readonly severity: EventSeverity;
  /** llama.cpp's own words. */
  readonly message: string;
  readonly cause: Text;
  readonly remedy: Text;
}
