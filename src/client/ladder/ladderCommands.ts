import { env, window, workspace, type TextDocument } from "vscode";
import { reportOf } from "../../core/report/gaugeState";
import type { FolderTokens } from "../../core/ladder/score/recommend";
import { isResumable, shownOf, type ShownLadder } from "../../core/ladder/report/shownLadder";
import { count, say } from "../../core/text";
import { UserError } from "../../core/userError";
import { cancellable } from "../editor/cancellable";
import type { CommandTable } from "../editor/commands";
import type { Gauge } from "../estimate/gauge";
import type { LadderRuns } from "./ladderRuns";
import { diagnoseLongContext } from "./ladderDiagnosis";
import { newPlan, planDocument } from "./ladderPlans";
import { runLadderTask } from "./ladderRunTask";
import type { GaugePanel } from "../panel/panel";
import { selectedUris } from "../estimate/scope";
import { folderOf, workspaceFolder } from "../servers/serverStarter";
import { shownName, type Shown } from "../../core/shown";
import { notify, pick, pickSeveral, showingProgress, type PickItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import { inBackground } from "../editor/background";

export type LadderCommandId =
  | "llamaGauge.createLadderPlan"
  | "llamaGauge.runLadder"
  | "llamaGauge.resumeLadder"
  | "llamaGauge.cancelLadder"
  | "llamaGauge.showLadder"
  | "llamaGauge.compareLadders"
  | "llamaGauge.exportLadderReport"
  | "llamaGauge.diagnoseLongContext";

export interface LadderCommandParts {
  readonly runs: LadderRuns;
  readonly gauge: Gauge;
  readonly panel: Pick<GaugePanel, "show">;
}

export function ladderCommands({
  runs,
  gauge,
  panel,
}: LadderCommandParts): Pick<CommandTable, LadderCommandId> {
  const { ladders } = runs;

  async function run(
    wanted: Parameters<typeof runLadderTask>[1],
    label: string,
    ask: boolean,
  ): Promise<string> {
    const ladder = await runLadderTask(runs, wanted, { label, ask });
    inBackground(tell(ladder));
    return ladder.report.nextStep.outcome;
  }

  async function tell({ report }: ShownLadder): Promise<void> {
    const open = localized(say`Show`);
    const text = localized(report.nextStep.sentence);
    const chosen = await notify(report.pass ? "information" : "warning", text, [open]);
    if (chosen === open) panel.show("ladder");
  }

  /** What the last estimate was about: for reviews and summaries. */
  function folder(): FolderTokens | undefined {
    const report = reportOf(gauge.state);
    return report && { label: report.scope.label, tokens: report.acceptance.promptTokens };
  }

  async function onShow(): Promise<ShownLadder> {
    await runs.open();
    const ladder = shownOf(runs.state);
    if (ladder !== undefined) return ladder;
    throw new UserError(
      "notFound",
      say`No ladder has been run yet.`,
      say`Create a plan, check it and run it.`,
    );
  }

  return {
    "llamaGauge.createLadderPlan": async () => {
      const title = localized(say`Asking the server for its context`);
      const text = await showingProgress(title, (_, cancelled) => ladders.planText(cancelled));
      await newPlan(text);
    },
    "llamaGauge.runLadder": async (...args) => {
      refuseUntrusted();
      const [uri] = selectedUris(args);
      const document = await planDocument(uri);
      if (document === undefined) return undefined;
      const text = document.getText();
      const label = labelOf(document);
      const ask = args[1] !== "unasked";
      const former = await stored((signal) => ladders.samePlan(text, signal));
      if (ask && former !== undefined && isResumable(former)) {
        const chosen = await resumeOrAnew(former);
        if (chosen === undefined) return undefined;
        if (chosen === "resume") return run({ kind: "resume", id: former.id }, label, ask);
      }
      const planFolder = folderOf(document.uri) ?? workspaceFolder() ?? "";
      return run({ kind: "new", text, label, planFolder }, label, ask);
    },
    "llamaGauge.resumeLadder": async (...args) => {
      refuseUntrusted();
      const { id, label } = await onShow();
      return run({ kind: "resume", id }, label, args[0] !== "unasked");
    },
    "llamaGauge.cancelLadder": () => runs.cancel(),
    "llamaGauge.showLadder": async () => {
      const [ladder] = await pickLadders(localized(say`Ladder to show`), false);
      if (ladder === undefined) return;
      runs.show(ladder);
      panel.show("ladder");
    },
    "llamaGauge.compareLadders": async () => {
      const chosen = await pickLadders(localized(say`Two ladders to compare`), true);
      const [newer, older] = chosen;
      if (newer === undefined) return;
      if (older === undefined || chosen.length > 2) {
        throw new UserError(
          "invalidInput",
          say`Two ladders are needed to compare.`,
          say`Run the same plan with one setting changed, then choose both.`,
        );
      }
      await openText(await stored((signal) => ladders.compare(older.id, newer.id, signal)), "markdown");
    },
    "llamaGauge.exportLadderReport": async (...args) => {
      const { id } = await onShow();
      const format = args[0] === "markdown" || args[0] === "json" ? args[0] : await chooseFormat();
      if (format === undefined) return undefined;
      const report = await stored((signal) => ladders.report(id, format, folder(), signal));
      return openText(report, format);
    },
    "llamaGauge.diagnoseLongContext": () => diagnoseLongContext(ladders, folder()?.tokens),
  };

  /** Newest first, as many as were chosen. */
  async function pickLadders(title: Shown, many: boolean): Promise<readonly ShownLadder[]> {
    const kept = await stored((signal) => ladders.kept(signal));
    if (kept.length === 0) await onShow();
    const items = kept.map(ladderItem);
    const options = { title, matchOnDetail: true };
    if (many) return (await pickSeveral(items, options))?.map(({ ladder }) => ladder) ?? [];
    const chosen = await pick(items, options);
    return chosen === undefined ? [] : [chosen.ladder];
  }
}

const stored = <T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> =>
  cancellable(say`Reading saved ladders`, read);

interface LadderItem extends PickItem {
  readonly ladder: ShownLadder;
}

function ladderItem(ladder: ShownLadder): LadderItem {
  const time = new Intl.DateTimeFormat(env.language, { dateStyle: "medium", timeStyle: "short" });
  return {
    label: shownName(ladder.label),
    description: shownName(time.format(ladder.at)),
    detail: localized(ladder.report.nextStep.sentence),
    ladder,
  };
}

async function resumeOrAnew({ steps }: ShownLadder): Promise<"resume" | "anew" | undefined> {
  const items = [
    {
      label: localized(say`Resume`),
      detail: localized(say`${count(steps.done)} of ${count(steps.planned)} run[s] [is|are] already saved.`),
      choice: "resume" as const,
    },
    {
      label: localized(say`Start over`),
      detail: localized(say`What is saved is left unchanged.`),
      choice: "anew" as const,
    },
  ];
  const chosen = await pick(items, { title: localized(say`This plan was started before`) });
  return chosen?.choice;
}

async function chooseFormat(): Promise<"markdown" | "json" | undefined> {
  const items = [
    {
      label: shownName("Markdown"),
      detail: localized(say`For a bug report or an article`),
      format: "markdown" as const,
    },
    { label: shownName("JSON"), detail: localized(say`Everything, for a program`), format: "json" as const },
  ];
  return (await pick(items, { title: localized(say`Export the ladder as`) }))?.format;
}

/** Not saved: where it goes is the user's choice. */
async function openText(content: string, language: "markdown" | "json"): Promise<string> {
  await window.showTextDocument(await workspace.openTextDocument({ content, language }));
  return content;
}

/** A plan names what is sent and to which folder it reaches. */
function refuseUntrusted(): void {
  if (workspace.isTrusted) return;
  throw new UserError("untrusted", say`Ladders run only in a trusted workspace.`, say`Trust it first.`);
}

function labelOf({ uri }: TextDocument): string {
  return uri.path.split("/").at(-1) ?? uri.path;
}
