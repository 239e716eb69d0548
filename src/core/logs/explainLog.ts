import { remedyOf } from "../causes/cause";
import type { CauseName } from "../causes/causes";
import { contextExplanations } from "./contextExplanations";
import type { Explanation, LogEvent, LogView } from "./logEvent";
import { FactReader } from "./reading/factReader";
import { logTotals, type LogFacts, type LogTotals } from "./reading/logFacts";
import { logLines, type LogLine } from "./reading/logLine";
import { memoryExplanations } from "./memoryExplanations";
import { startExplanations } from "./startExplanations";

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

/** Lines in front of an error within which a later error counts as its consequence. */
const chain = 40;
/** The same kind is told this often; a server that fails every request would fill pages. */
const maxPerKind = 20;
/** Lines of one kind that are looked at closely: each may search the lines around it. */
const maxLooks = 5 * maxPerKind;

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
  const log: LogView = { facts, around: aroundIn(lines), earlier: earlierIn(lines) };
  const events: LogEvent[] = [];
  const told = new Map<string, number>();
  const last = new Map<string, number>();
  const looks = new Map<Explanation, number>();
  let lastError = -Infinity;
  for (const line of lines) {
    if (!anything.some((patterns) => patterns.test(line.text)) || conversation.test(line.text)) continue;
    for (const explanation of explanations) {
      const match = explanation.pattern.exec(line.text);
      if (match === null) continue;
      if (explanation.consequence && line.number - lastError <= chain) break;
      const looked = looks.get(explanation) ?? 0;
      if (looked >= maxLooks) {
        if (explanation.severity === "error") lastError = line.number;
        continue;
      }
      looks.set(explanation, looked + 1);
      const found = explanation.explain(match, line, log);
      if (found === undefined) continue;
      const kind = kinds[found.id] ?? found.id;
      const { severity } = explanation;
      if (severity === "error") lastError = line.number;
      // a trial run of -fit and the real load say the same thing twice
      const repeated = line.number - (last.get(kind) ?? -Infinity) <= chain && severity !== "information";
      last.set(kind, line.number);
      const times = (told.get(kind) ?? 0) + 1;
      if (times > maxPerKind || (repeated && !/Exceeded|Cut|invalid/i.test(kind))) break;
      told.set(kind, times);
      const message = line.text.trim().slice(0, 400);
      const [cause, remedy] = [found.sentence, remedyOf(found)];
      events.push({ line: line.number, kind, severity, message, cause, remedy });
      break;
    }
  }
  return events;
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
