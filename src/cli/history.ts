import { historyAs, historyFormats, type HistoryFormat } from "../core/history/exportHistory";
import { runSummaries } from "../core/history/runSummary";
import { Option } from "commander";
import { HistoryStore, type CompactedHistory } from "../app/historyStore";
import { formatText } from "../core/format";
import { bytes, count, say, type Text } from "../core/text";
import type { CliCommand } from "./command";
import { historyFolder } from "./kept";
import { printJson, printLines, printText } from "./output";

interface HistoryListFlags {
  readonly history?: string;
  readonly format: HistoryFormat;
  readonly compact?: true;
  readonly json?: true;
}

export const addHistory: CliCommand = (program, { signal }) => {
  program
    .command("history")
    .description("saved measurements: runs with --json, every measured span with --format")
    .option("--history <folder>", "folder of saved measurements, instead of your own")
    .addOption(new Option("--format <format>", "of the text").choices(historyFormats).default("md"))
    .option("--compact", "keep the latest runs and all baselines, and move the whole file away")
    .option("--json", "one JSON document on stdout")
    .action(async ({ history, format, compact, json }: HistoryListFlags) => {
      const store = new HistoryStore(history ?? historyFolder());
      if (compact) {
        const done = await store.compact(Date.now(), signal);
        if (json) printJson(done ?? {});
        else printLines([formatText(compactedText(done))]);
        return;
      }
      const { records, newer, broken } = await store.read(signal);
      if (json) printJson({ runs: runSummaries(records), records: records.length, newer, broken });
      else printText(historyAs(format, records));
    });
};

function compactedText(done: CompactedHistory | undefined): Text {
  if (done === undefined) return say`There are no measurements.`;
  return say`${count(done.records)} run[s] kept: ${bytes(done.bytes)} instead of ${bytes(done.bytesBefore)}. The whole history is now ${done.wholeFile}; delete it when you no longer need it.`;
}
