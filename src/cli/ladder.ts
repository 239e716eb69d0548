import { mkdir } from "node:fs/promises";
import path from "node:path";
import { formatNumber, formatText } from "../core/format";
import { ladderReport, type LadderReport } from "../core/ladder/report/ladderReport";
import { planTextFor } from "../core/ladder/plan/planText";
import type { LadderRecord } from "../core/ladder/score/record";
import { ladderMarkdown } from "../core/ladder/report/reportMarkdown";
import { recallText } from "../core/ladder/score/judgeLadder";
import { useText, type FolderTokens } from "../core/ladder/score/recommend";
import { reportJson } from "../core/ladder/report/reportJson";
import { count, say } from "../core/text";
import { countFiles } from "../core/tokens/countFiles";
import { defaultWalkOptions } from "../core/files/files";
import { UserError } from "../core/userError";
import { readPlanFile } from "../node/ladder/ladderPlanFile";
import { runLadderAndRemember } from "../app/ladders";
import { connected, findServer } from "../app/runningServer";
import { measuredSpeed } from "../app/situation";
import { HttpLlamaServer } from "../node/llamaServer/llamaServer";
import { writeWhole } from "../node/writing/wholeFile";
import { workspaceFiles } from "../node/files/workspaceFiles";
import type { CliCommand, CliContext } from "./command";
import { countingTokenizer } from "./count";
import { historyOf, openCaches, version, withHistory, type HistoryFlags } from "./kept";
import { givenLaunch, namedServer, serverAccess } from "./launch";
import { endProgress, exitCode, printError, printJson, printLines, printProgress } from "./output";
import { storedLadder } from "./compareLadders";
import { readCurveFile } from "../app/measurements";
import { namedCurve, type CurveFile } from "../core/history/namedCurve";
import type { CurveKey, DepthCurve } from "../core/prefill/depthCurve";
import { serverCurveKey } from "../core/bench/serverCurveKey";
import { existing } from "./walkFlags";

interface LadderFlags extends HistoryFlags {
  readonly server: string;
  readonly plan?: string;
  readonly printPlan?: true;
  readonly out?: string;
  readonly curve?: string;
  readonly anyCurve?: true;
  readonly log?: string;
  readonly earlier?: readonly string[];
  readonly folder?: string;
  readonly json?: true;
}

export const addLadder: CliCommand = (program, context) => {
  const command = program
    .command("ladder")
    .description("verify a working window: recall, speed and memory at growing prompt lengths")
    .requiredOption("--server <url>", "the llama-server to test; nobody else should use it in the meantime")
    .option("--plan <file>", "the plan to run")
    .option("--print-plan", "print a plan for this server instead of running one")
    .option("--out <folder>", "where runs and the report are saved; run again with the same folder to resume")
    .option(
      "--curve <file>",
      "output of `probe --json`, to tell in advance how long it takes; without it, earlier measurements are used",
    )
    .option("--any-curve", "take also a curve of another setup, and say so")
    .option("--log <file>", "the server's log, read if the server fails")
    .option("--earlier <folder...>", "earlier ladders, to find failures that recur")
    .option("--folder <path>", "recommend a context for reviewing or summarizing this folder");
  withHistory(command, "folder to save the result and its curve in, for `check`")
    .option("--json", "one JSON document on stdout")
    .action(async (flags: LadderFlags) => {
      if (flags.printPlan) {
        const server = new HttpLlamaServer(serverAccess(flags.server));
        printLines(
          planTextFor(await server.facts(context.signal))
            .trimEnd()
            .split("\n"),
        );
        return;
      }
      if (flags.plan === undefined) {
        throw new UserError(
          "invalidInput",
          say`No plan is specified.`,
          say`Specify --plan PLAN.yaml; --print-plan prints one for this server.`,
        );
      }
      const record = await run(flags, flags.plan, context);
      endProgress();
      const earlier = await Promise.all(
        (flags.earlier ?? []).map((folder) => storedLadder(folder, context.signal)),
      );
      const folder =
        flags.folder === undefined ? undefined : await folderTokens(flags, flags.folder, context);
      const report = ladderReport(record, earlier, folder);
      if (flags.out !== undefined) await storeReports(flags.out, report, record, folder);
      for (const warning of report.warnings) printError(formatText(warning));
      if (flags.json) printJson(report);
      else printLines(reportLines(report, folder));
      const failure = record.steps.at(-1)?.failure?.kind;
      if (failure !== undefined && failure !== "timeLimit") context.finish(exitCode.outsideFailed);
      else if (!report.pass) context.finish(exitCode.no);
    });
};

async function run(flags: LadderFlags, file: string, context: CliContext): Promise<LadderRecord> {
  const { signal } = context;
  const plan = await readPlanFile(file, signal);
  const curveFile = flags.curve === undefined ? undefined : await readCurveFile(flags.curve, signal);
  const history = historyOf(flags);
  const setup = { server: namedServer(flags.server), launch: await givenLaunch(context), programs: {} };
  const { server, launch } = await findServer(setup, signal);
  const { facts } = connected(server);
  const curve = curveFile && curveOf(curveFile, flags, serverCurveKey(facts, launch));
  const speed = await measuredSpeed({ ...(history && { history }) }, { facts, launch }, signal);
  return runLadderAndRemember(
    {
      ...serverAccess(flags.server),
      plan,
      planFolder: path.dirname(path.resolve(file)),
      label: path.basename(file),
      ...(flags.out !== undefined && { out: flags.out }),
      ...(curve !== undefined && { curve }),
      ...(flags.log !== undefined && { logFile: flags.log }),
      tool: `Llama Gauge ${version}`,
      now: Date.now,
      onCost: (cost, left) => {
        printError(formatText(cost.sentence));
        if (left < cost.steps) {
          printError(
            formatText(
              say`${count(cost.steps - left)} of ${count(cost.steps)} run[s] [is|are] already saved.`,
            ),
          );
        }
      },
      onProgress: ({ tokens, run: number }, { processed }) =>
        printProgress(
          formatText(say`${count(tokens)} token[s], run ${count(number)}: ${count(processed)} token[s] read`),
        ),
      onStep: (step) => {
        endProgress();
        const correct = step.canaries?.filter((c) => c.outcome === "correct").length;
        printError(
          `${formatText(say`${count(step.tokens)} token[s], run ${count(step.run)}`)}: ` +
            (step.failure?.kind ??
              step.invalid ??
              `${correct ?? 0} of ${step.canaries?.length ?? 0} recalled`),
        );
      },
    },
    { situation: { server, launch, ...speed }, history },
    signal,
  );
}

/** The curve that was named, with what is to be said about it. @throws UserError before hours begin without it */
function curveOf(file: CurveFile, { anyCurve }: LadderFlags, key: CurveKey): DepthCurve {
  const { curve, notes } = namedCurve(file, key, { any: anyCurve === true, now: Date.now() });
  for (const note of notes) printError(formatText(note));
  if (curve.known) return curve.value;
  throw new UserError("noFigure", curve.why, curve.remedy);
}

/** report.json and report.md beside the record; each whole or not at all. */
async function storeReports(
  folder: string,
  report: LadderReport,
  record: LadderRecord,
  about: FolderTokens | undefined,
): Promise<void> {
  const files: Readonly<Record<string, string>> = {
    "report.json": reportJson(report, record.header),
    "report.md": ladderMarkdown(report, record.header, about),
  };
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeWhole(path.join(folder, name), text);
  } catch (cause) {
    throw new UserError(
      "outsideFailed",
      say`The report cannot be written to ${folder}.`,
      say`Free some disk space or specify another folder; the saved rungs are kept.`,
      { cause },
    );
  }
}

/** Its files in the server's own tokens, as they would be packed without the chat template. */
async function folderTokens(
  { server: url }: LadderFlags,
  folder: string,
  context: CliContext,
): Promise<FolderTokens> {
  const { signal } = context;
  const caches = openCaches();
  // the server is the model's; its options have nothing to do with how it counts
  const tokenizer = await countingTokenizer({ server: url }, caches, { ...context, serverArguments: [] });
  const { fingerprint } = tokenizer;
  const cache = fingerprint === undefined ? undefined : await caches.counts(fingerprint);
  const counted = await countFiles(
    { files: workspaceFiles(), tokenizer, clock: Date, ...(cache && { cache }) },
    {
      roots: await existing([folder]),
      options: { ...defaultWalkOptions, workspaceFolders: [process.cwd()] },
    },
    () => undefined,
    signal,
  );
  await cache?.flush();
  return { label: folder, tokens: counted.tokens };
}

const reportLines = (report: LadderReport, folder: FolderTokens | undefined): string[] => [
  `${formatText(say`${count(report.targetTokens)} token[s]`)}: ${report.pass ? "passed" : "not passed"}`,
  ...report.rungs.map((rung) => `  ${formatNumber(rung.tokens)}: ${formatText(recallText(rung))}`),
  ...report.results.map(
    ({ passed, sentence }) => `${passed === null ? "?" : passed ? "+" : "-"} ${formatText(sentence)}`,
  ),
  formatText(report.nextStep.sentence),
  ...report.nextStep.actions.map((action) => `→ ${formatText(action)}`),
  "",
  "Recommended context for each use:",
  ...report.recommended.map(
    ({ use, sentence }) => `  ${formatText(useText(use, folder))}: ${formatText(sentence)}`,
  ),
];
