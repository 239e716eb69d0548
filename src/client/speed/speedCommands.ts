import { commands, Uri, window } from "vscode";
import type { Speed } from "../../app/speed";
import type { RecordedBaseline } from "../../core/history/baseline";
import { historyFormats, type HistoryFormat } from "../../core/history/exportHistory";
import { count, say } from "../../core/text";
import { UserError } from "../../core/userError";
import type { CurveKey } from "../../core/prefill/depthCurve";
import { cancellable } from "../editor/cancellable";
import type { CommandId } from "../editor/commandIds";
import type { CommandTable } from "../editor/commands";
import { askForUse, chooseAssumed, importAnswer } from "./importAnswer";
import { compareSettings, comparisonText } from "./compareCommand";
import type { GaugePanel } from "../panel/panel";
import type { SpeedMeasurements } from "./speedMeasurements";
import { shownName, together } from "../../core/shown";
import { enterText, notify, pick, showBriefly } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { inBackground } from "../editor/background";

export type SpeedInCommands = Pick<
  Speed,
  | "comparisonSetup"
  | "comparisonPrices"
  | "compare"
  | "currentRun"
  | "recordBaseline"
  | "baselines"
  | "besideBaseline"
  | "currentKey"
  | "importQuestion"
  | "changeAssumption"
  | "importRuns"
  | "exportHistory"
>;

export interface SpeedCommandParts {
  readonly measurements: SpeedMeasurements;
  readonly panel: Pick<GaugePanel, "show">;
  readonly speed: SpeedInCommands;
  /** Runs the last estimate again, which may use what was measured. */
  readonly repeat: () => Promise<unknown>;
}

export type SpeedCommandId =
  | "llamaGauge.compareKvCacheTypes"
  | "llamaGauge.recordBaseline"
  | "llamaGauge.compareWithBaseline"
  | "llamaGauge.importMeasurements"
  | "llamaGauge.changeAssumption"
  | "llamaGauge.exportHistory"
  | "llamaGauge.cancelMeasurement";

const lookingAround = say`Checking server, model and machine`;
const readingHistory = say`Reading measurement history`;

/** The commands about measured speed besides the probe itself. */
export function speedCommands({
  measurements,
  panel,
  speed,
  repeat,
}: SpeedCommandParts): Pick<CommandTable, SpeedCommandId> {
  return {
    "llamaGauge.compareKvCacheTypes": async (...args) => {
      const result = await compareSettings(speed, measurements, args[0]).catch(offerServerProbe);
      if (result === undefined) return undefined;
      inBackground(notify("information", localized(comparisonText(result))));
      panel.show("measured");
      return result.results.at(-1)?.prefill.kind;
    },
    "llamaGauge.recordBaseline": async (...args) => {
      const run = await currentRun();
      const label = typeof args[0] === "string" ? args[0] : await askForLabel(run.key);
      if (label === undefined) return undefined;
      await cancellable(readingHistory, (signal) => speed.recordBaseline(run.id, label, signal));
      await measurements.refresh();
      showBriefly(localized(say`Baseline recorded`));
      return label;
    },
    "llamaGauge.compareWithBaseline": async (...args) => {
      const baselines = await cancellable(readingHistory, (signal) => speed.baselines(signal));
      if (baselines.length === 0) {
        throw new UserError(
          "invalidInput",
          say`No baseline has been recorded yet.`,
          say`Record one (Llama Gauge: Record Baseline), then measure again and compare.`,
        );
      }
      const run = await currentRun();
      const baselineId = typeof args[0] === "string" ? args[0] : (await chooseBaseline(baselines))?.id;
      if (baselineId === undefined) return undefined;
      const found = await cancellable(readingHistory, (signal) =>
        speed.besideBaseline({ baselineId, runId: run.id }, signal),
      );
      measurements.besideBaseline(found);
      inBackground(notify("information", localized(found.sentence)));
      panel.show("measured");
      return found.rows.at(-1)?.prefillChange;
    },
    "llamaGauge.importMeasurements": async (...args) => {
      const file = typeof args[0] === "string" ? args[0] : await askForBenchOutput();
      if (file === undefined) return undefined;
      const asked = await importAnswer(speed, file, args[1]);
      if (asked === "cancelled") return undefined;
      const found = await cancellable(say`Importing measurements`, (signal) =>
        speed.importRuns(file, asked.answer, signal),
      );
      await measurements.refresh();
      const imported = say`Imported: ${count(found.curves)} curve[s] with ${count(found.points)} point[s].`;
      const use = asked.answer?.use === true;
      const remembered = use
        ? say`${imported} Used for predictions, as you said of such an import before; the panel can change that.`
        : say`${imported} Only shown, as you said of such an import before; the panel can change that.`;
      inBackground(notify("information", localized(asked.remembered ? remembered : imported)));
      if (use) await repeat();
      panel.show("measured");
      return found.curves;
    },
    "llamaGauge.changeAssumption": async (...args) => {
      const run = await chooseAssumed(measurements.state.runs, args[0]);
      if (run === undefined) return undefined;
      const setup = await cancellable(lookingAround, (signal) => speed.currentKey(signal));
      if (setup === undefined) {
        throw new UserError(
          "invalidInput",
          say`There is no setup to assume anything of.`,
          say`Choose a server or a model first.`,
        );
      }
      const use = typeof args[1] === "boolean" ? args[1] : await askForUse(setup);
      if (use === undefined) return undefined;
      await cancellable(readingHistory, (signal) => speed.changeAssumption(run.id, { setup, use }, signal));
      await measurements.refresh();
      await repeat();
      return use;
    },
    "llamaGauge.exportHistory": async (...args) => {
      const file = typeof args[0] === "string" ? Uri.file(args[0]) : await askForExportFile();
      if (file === undefined) return undefined;
      const written = await cancellable(say`Exporting measurement history`, (signal) =>
        speed.exportHistory(formatOf(file), file.fsPath, signal),
      );
      showBriefly(localized(say`${count(written)} run[s] exported`));
      return written;
    },
    "llamaGauge.cancelMeasurement": () => measurements.cancel(),
  };

  async function currentRun(): Promise<{ readonly id: string; readonly key: CurveKey }> {
    const run = await cancellable(lookingAround, (signal) => speed.currentRun(signal));
    if (run !== undefined) return run;
    throw new UserError(
      "invalidInput",
      say`The current server and options have not been measured yet.`,
      say`Run a depth probe first.`,
    );
  }
}

/** Where there is no room for a second copy of the model, what runs can still be measured. */
function offerServerProbe(error: unknown): undefined {
  if (!(error instanceof UserError) || error.reason !== "tooLarge") throw error;
  const probe = localized(say`Run depth probe`);
  const message = together([localized(error.problem), localized(error.remedy)], " ");
  inBackground(
    notify("error", message, [probe]).then((chosen) =>
      chosen === probe ? commands.executeCommand("llamaGauge.runDepthProbe" satisfies CommandId) : undefined,
    ),
  );
}

function askForLabel({ build, flags }: CurveKey): Promise<string | undefined> {
  return enterText({
    title: localized(say`Name of the baseline`),
    value: [build, flags].filter((part) => part !== "").join(" "),
  });
}

async function chooseBaseline(baselines: readonly RecordedBaseline[]): Promise<RecordedBaseline | undefined> {
  const picked = await pick(
    baselines.map((baseline) => ({
      label: shownName(baseline.label),
      description: shownName(new Date(baseline.at).toLocaleString()),
      detail: shownName([baseline.key.model, baseline.key.build, baseline.key.flags].join(" ")),
      baseline,
    })),
    { title: localized(say`Compare with which baseline?`), matchOnDetail: true },
  );
  return picked?.baseline;
}

async function askForBenchOutput(): Promise<string | undefined> {
  const [file] =
    (await window.showOpenDialog({
      title: localized(
        say`Output of llama-bench, llama-sweep-bench, llama-batched-bench or llama-benchy, or a llama-server log`,
      ),
      openLabel: localized(say`Import`),
      canSelectMany: false,
    })) ?? [];
  return file?.fsPath;
}

function askForExportFile(): Thenable<Uri | undefined> {
  return window.showSaveDialog({
    title: localized(say`Export Measurement History`),
    filters: { Markdown: ["md"], CSV: ["csv"], JSON: ["json"] },
  });
}

function formatOf(file: Uri): HistoryFormat {
  const extension = file.path.split(".").at(-1)?.toLowerCase();
  return historyFormats.find((format) => format === extension) ?? "md";
}
