import { formatText } from "../core/format";
import { explainLog, type ExplainedLog } from "../core/logs/explainLog";
import type { CliCommand } from "./command";
import { printJson, printLines } from "./output";
import { textOf } from "./textFile";

export const addExplainLog: CliCommand = (program, { signal }) => {
  program
    .command("explain-log")
    .description("facts and failures of a llama.cpp log, with cause and remedy")
    .argument("<file>", "the log")
    .option("--json", "one JSON document on stdout")
    .action(async (file: string, options: { json?: true }) => {
      const explained = explainLog(await textOf(file, signal));
      if (options.json) printJson(explained);
      else printLines(eventLines(explained, file));
    });
};

/** A terminal makes a link of FILE:LINE. */
const eventLines = ({ events }: ExplainedLog, file: string): string[] =>
  events.length === 0
    ? ["No failure was found."]
    : events.flatMap(({ line, severity, message, cause, remedy, around = [] }) => [
        `${file}:${line}: ${severity}: ${message}`,
        ...around.map((one) => `  ${one.line === line ? ">" : " "} ${one.line}  ${one.text}`),
        `  ${formatText(cause)}`,
        `  → ${formatText(remedy)}`,
      ]);
