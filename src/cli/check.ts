import { formatBytes, formatNumber, formatText } from "../core/format";
import { valueOf, type Known } from "../core/known";
import type { MemoryDevice } from "../core/memory/devices/memoryDevice";
import { predictionText, secondQuestionText } from "../core/prefill/predictionText";
import { shownVerdict } from "../core/report/besideServer";
import { estimate } from "../core/report/estimate";
import type { GaugeReport } from "../core/report/gaugeReport";
import { assumedText } from "../core/history/assumption";
import { prescribe } from "../core/prescription/prescribe";
import type { Prescriptions } from "../core/prescription/prescription";
import { prescriptionLines } from "./prescriptionLines";
import { templateName } from "../core/report/names";
import { otherRemedies, severityOf } from "../core/report/verdict";
import { defaultPatience, totalText, withinText } from "../core/report/wait";
import { count, say } from "../core/text";
import { defaultPackTemplate } from "../core/tokens/pack";
import { connected } from "../app/runningServer";
import { gather } from "../app/situation";
import { launchedModelFile } from "../node/gguf/launchedModel";
import { workspaceFiles } from "../node/files/workspaceFiles";
import { mebibytes, wholeNumber } from "./arguments";
import type { CliCommand } from "./command";
import { countJson, crashWarnings } from "./count";
import { historyOf, keptSetup, openCaches, withHistory, type HistoryFlags } from "./kept";
import { device, givenLaunch, programsOf, withPrograms, type ProgramFlags, namedServer } from "./launch";
import { endProgress, exitCode, printJson, printLines, printProgress } from "./output";
import { readCurveFile } from "../app/measurements";
import { existing, walkOptions, withWalkOptions, type WalkFlags } from "./walkFlags";

interface CheckOptions extends WalkFlags, HistoryFlags, ProgramFlags {
  readonly server?: string;
  readonly curve?: string;
  readonly anyCurve?: true;
  readonly raw?: true;
  readonly answerReserve: number;
  readonly device: readonly MemoryDevice[];
  readonly margin?: number;
  readonly patience?: number;
  readonly json?: true;
}

export const addCheck: CliCommand = (program, context) => {
  const command = withWalkOptions(
    program
      .command("check")
      .description(
        "does it fit, is there enough memory, how long is the wait; llama-server's arguments go after --",
      )
      .argument("<path...>", "files and folders to send")
      .option("--server <url>", "count with this llama-server")
      .option(
        "--curve <file>",
        "predict the wait from this output of `probe --json` or of a benchmark, instead of earlier measurements",
      )
      .option("--any-curve", "predict also from a curve of another setup")
      .option("--raw", "only the text, without headings, fences and chat template")
      .option("--answer-reserve <n>", "tokens to reserve for the answer", wholeNumber, 2048)
      .option(
        "--patience <seconds>",
        "wait for the first token at most this long, else exit with 1; 0: any time (default: 300, without exit code)",
        wholeNumber,
      )
      .option("--device <name=bytes>", "a device and its free memory; can be repeated", device, [])
      .option("--margin <mib>", "MiB to keep free on every device", mebibytes),
  );
  withHistory(withPrograms(command), "folder of saved measurements")
    .option("--json", "one JSON document on stdout")
    .action(async (paths: string[], options: CheckOptions) => {
      const { signal } = context;
      const roots = await existing(paths);
      const file = options.curve === undefined ? undefined : await readCurveFile(options.curve, signal);
      const caches = openCaches();
      const devices = options.device.length === 0 ? "measure" : options.device;
      const launch = await givenLaunch(context);
      // what a server has loaded is the server's to say
      const modelFile = options.server === undefined ? await launchedModelFile(launch, signal) : undefined;
      const situation = await gather(
        {
          server: options.server === undefined ? "none" : namedServer(options.server),
          launch,
          ...(modelFile !== undefined && { modelFile }),
          devices,
          programs: await programsOf(options),
          ...(devices === "measure" && { fitProbe: caches.fitProbe }),
          ...(options.margin !== undefined && { marginBytes: options.margin }),
          ...(file && { curve: { file, any: options.anyCurve === true } }),
          ...keptSetup(caches, historyOf(options)),
        },
        signal,
      );
      if (options.server !== undefined) connected(situation.server);
      const report = await estimate(
        {
          scope: { label: paths.join(", "), roots },
          walk: walkOptions(options),
          pack: options.raw ? "raw" : defaultPackTemplate,
          answerReserve: options.answerReserve,
          patienceSeconds: options.patience ?? defaultPatience,
        },
        situation,
        { files: workspaceFiles(), clock: Date },
        ({ filesDone, filesFound, tokens }) =>
          printProgress(() =>
            formatText(say`${count(filesDone)} of ${count(filesFound)} file[s], ${count(tokens)} token[s]`),
          ),
        signal,
      );
      endProgress();
      await (await situation.counts?.())?.flush();
      const prescriptions = prescribe(report, situation);
      const asked = options.curve !== undefined || (options.patience ?? 0) > 0;
      if (options.json) printJson(reportJson(report, prescriptions));
      else {
        printLines(reportLines(report, prescriptions));
        if (asked && !report.prefill.known)
          printLines([`wait unknown: ${formatText(report.prefill.reason)}`]);
      }
      const late = options.patience !== undefined && report.wait.beyondPatience === true;
      if (late || severityOf(report.verdict) === "bad") context.finish(exitCode.no);
      else if (asked && !report.prefill.known) context.finish(exitCode.noFigure);
    });
};

/** The contract of `check --json`: the report, with unknown parts as `{known: false, why, remedy}`. */
function reportJson(report: GaugeReport, { offered, impossible }: Prescriptions): object {
  return {
    ...report,
    tokens: countJson(report.tokens),
    server: flat(report.server),
    model: flat(report.model),
    memory: flat(report.memory),
    prescriptions: offered,
    impossible,
    warnings: crashWarnings(report),
  };
}

const flat = <T>(part: Known<T>): object => (part.known ? { known: true, ...part.value } : part);

function reportLines(report: GaugeReport, prescriptions: Prescriptions): string[] {
  const { verdict, acceptance, tokens } = report;
  const { files, packing, template } = acceptance.parts;
  const memory = valueOf(report.memory);
  const total = totalText(report.wait);
  const within = withinText(report.wait);
  const assumed = report.origin?.assumed;
  const from = report.template === undefined ? "" : ` (${formatText(templateName(report.template))})`;
  return [
    formatText(verdict.sentence),
    ...verdict.reasons.map((reason) => `- ${formatText(reason)}`),
    ...otherRemedies(verdict, prescriptions.offered.length > 0).map((step) => `→ ${formatText(step)}`),
    ...crashWarnings(report).map((warning) => `! ${formatText(warning)}`),
    `prompt ${formatNumber(acceptance.promptTokens)} = files ${formatNumber(files)} + packing ${formatNumber(packing)} + template ${formatNumber(template)}${from}`,
    formatText(say`${count(tokens.files.length)} file[s], ${count(tokens.skipped.length)} skipped`),
    ...(memory === undefined
      ? []
      : [
          `memory ${formatBytes(memory.totalBytes)} (${memory.source}), ${shownVerdict(memory.verdict, report.beside)}`,
        ]),
    ...(report.prefill.known ? [`wait ${formatText(predictionText(report.prefill))}`] : []),
    ...(assumed === undefined ? [] : [formatText(assumedText({ missing: assumed, use: true }))]),
    ...(within === undefined ? [] : [formatText(within)]),
    ...(total === undefined ? [] : [formatText(total)]),
    ...(report.second === undefined ? [] : [formatText(secondQuestionText(report.second))]),
    ...prescriptionLines(prescriptions),
  ];
}
