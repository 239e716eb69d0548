import { contextExplanations, recovery } from "./contextExplanations";
import { isError } from "./unknownError";
import type { Explanation, LogEvent, LogView } from "./logEvent";
import { FactReader } from "./reading/factReader";
import { logTotals, type LogFacts, type LogTotals } from "./reading/logFacts";
import { logLines, type LogLine } from "./reading/logLine";
import { memoryExplanations } from "./memoryExplanations";
import { ToldEvents } from "./toldEvents";
import { startExplanations } from "./startExplanations";

export interface ExplainedLog {
  readonly facts: LogFacts;
  readonly totals: LogTotals;
  readonly events: readonly LogEvent[];
}

const all: readonly Explanation[] = [...startExplanations, ...memoryExplanations, ...contextExplanations];
/** What follows from another error is tried last. */
const explanations: readonly Explanation[] = [
  ...all.filter(({ consequence }) => consequence !== true),
  ...all.filter(({ consequence }) => consequence === true),
];
/** One look at a line tells whether any explanation can apply; those of the same flags are looked for together. */
const anything = ["", "i"].map((flags) => {
  const same = explanations.filter(({ pattern }) => pattern.flags === flags);
  return new RegExp(same.map(({ pattern }) => `(?:${pattern.source})`).join("|"), flags);
});
/** At `-lv 5` and above, the text of a conversation: what it says happened somewhere else. */
const conversation = /^(?:srv\s+)?log_server_r\w*: +(?:request|response): /;

/** Lines of one kind that are looked at closely: each may search the lines around it. */
const maxLooks = 100;

/**
 * Facts and failures of a log, whole or in part, of old and new builds.
 * @throws UserError for more than `mostLines` lines.
 */
export function explainLog(text: string, mostLines?: number): ExplainedLog {
  const lines = logLines(text, mostLines);
  const reader = new FactReader();
  for (const line of lines) reader.read(line);
  const facts = reader.result();
  return { facts, totals: logTotals(facts), events: explainLines(lines, facts) };
}

export function explainLines(lines: readonly LogLine[], facts: LogFacts): LogEvent[] {
  const told = new ToldEvents();
  const log: LogView = {
    facts,
    around: aroundIn(lines),
    earlier: earlierIn(lines),
    failed: (source) => told.failed(source),
  };
  const looks = new Map<Explanation, number>();
  for (const line of lines) {
    if (!anything.some((patterns) => patterns.test(line.text))) {
      if (isError(line)) told.unknown(line, facts, lines);
      continue;
    }
    if (conversation.test(line.text)) continue;
    let known = false;
    for (const explanation of explanations) {
      const match = explanation.pattern.exec(line.text);
      if (match === null) continue;
      known = true;
      if (explanation.consequence && told.isConsequence(line)) break;
      const looked = looks.get(explanation) ?? 0;
      if (looked >= maxLooks) {
        if (explanation.severity === "error") told.erred(line);
        continue;
      }
      looks.set(explanation, looked + 1);
      const found = explanation.explain(match, line, log);
      if (found === undefined) continue;
      if (explanation.pattern === recovery) told.recovered(line);
      told.known(line, explanation.severity, found);
      break;
    }
    if (!known && isError(line)) told.unknown(line, facts, lines);
  }
  return told.result();
}

function aroundIn(lines: readonly LogLine[]): LogView["around"] {
  return (line, before, after) =>
    lines
      .slice(Math.max(0, line.number - 1 - before), line.number + after)
      .map(({ text }) => text)
      .join("\n");
}

function earlierIn(lines: readonly LogLine[]): LogView["earlier"] {
  return (line, pattern) => {
    for (let index = line.number - 2; index >= Math.max(0, line.number - 400); index--) {
      const match = pattern.exec(lines[index]?.text ?? "");
      if (match !== null) return match;
    }
    return undefined;
  };
}
