import { historyAs, historyFormats, type HistoryFormat } from "../core/history/exportHistory";
import { runSummaries } from "../core/history/runSummary";
import { Option } from "commander";
import { HistoryStore } from "../app/historyStore";
import type { CliCommand } from "./command";
import { historyFolder } from "./kept";
import { printJson, printText } from "./output";

interface HistoryListFlags {
  readonly history?: string;
  readonly format: HistoryFormat;
  readonly json?: true;
}

export const addHistory: CliCommand = (program, { signal }) => {
  program
    .command("history")
    .description("saved measurements: runs with --json, every measured span with --format")
    .option("--history <folder>", "folder of saved measurements, instead of your own")
    .addOption(new Option("--format <format>", "of the text").choices(historyFormats).default("md"))
    .option("--json", "one JSON document on stdout")
    .action(async ({ history, format, json }: HistoryListFlags) => {
      const { records, newer, broken } = await new HistoryStore(history ?? historyFolder()).read(signal);
      if (json) printJson({ runs: runSummaries(records), records: records.length, newer, broken });
      else printText(historyAs(format, records));
    });
};
