import { formatNumber, formatSeconds, formatText } from "../../core/format";
import { planText } from "../../core/bench/probePlan";
import type { ProbeProgress, ProbeReport } from "../../core/bench/probeReport";
import { foreignUseTexts } from "../../core/monitor/foreignUse";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { benchProbeAndRemember, probeAndRemember, probedServer } from "../../app/probe";
import { connected, findServer } from "../../app/runningServer";
import { tokenList, wholeNumber } from "../arguments";
import type { CliCommand, CliContext } from "../command";
import { historyOf, withHistory, type HistoryFlags } from "../kept";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import { isUrl } from "../../node/gguf/ggufModelSource";
import { launchedModelFile } from "../../node/gguf/launchedModel";
import { givenLaunch, namedServer, serverAccess } from "../launch";
import { endProgress, printError, printJson, printLines, printProgress, table } from "../output";

interface ProbeFlags extends HistoryFlags {
  readonly server?: string;
  readonly bench?: string;
  readonly budget: number;
  readonly depths?: readonly number[];
  readonly json?: true;
}

export const addProbe: CliCommand = (program, context) => {
  const command = program
    .command("probe")
    .description("measure prefill speed by depth, on a running server or with llama-bench")
    .option("--server <url>", "the llama-server to measure; it must be idle")
    .option("--bench <file>", "the llama-bench to run instead, with llama-server's arguments after --")
    .option("--budget <seconds>", "time limit", wholeNumber, 60)
    .option(
      "--depths <list>",
      "depths in tokens to measure, for example 0,4K,16K; all of them within --budget, or none",
      tokenList,
    );
  withHistory(command, "folder to save the measurement in")
    .option("--json", "one JSON document on stdout")
    .action(async (flags: ProbeFlags) => {
      const report = await measured(flags, context);
      endProgress();
      for (const warning of report.warnings) printError(formatText(warning));
      if (flags.json) printJson({ ...report, drift: report.drift ?? null });
      else printLines(curveLines(report));
    });
};

async function measured(flags: ProbeFlags, context: CliContext): Promise<ProbeReport> {
  const { signal } = context;
  const common = {
    budgetSeconds: flags.budget,
    ...(flags.depths !== undefined && { depths: flags.depths }),
    onProgress: ({ share, remainingSeconds, depth }: ProbeProgress) =>
      printProgress(
        `${formatNumber(share * 100)} %, depth ${formatNumber(depth)}, ${formatSeconds(remainingSeconds)} to go`,
      ),
  };
  if ((flags.server === undefined) === (flags.bench === undefined)) {
    throw new UserError(
      "invalidInput",
      say`Either --server or --bench is required.`,
      say`Specify what to measure.`,
    );
  }
  const launch = await givenLaunch(context);
  const history = historyOf(flags);
  if (flags.server !== undefined) {
    // the key of the curve is made as `check` and the editor make it, so that they find it
    const setup = { server: namedServer(flags.server), launch, programs: {} };
    const { server, launch: running } = await findServer(setup, signal);
    const { facts } = connected(server);
    return probeAndRemember(
      {
        ...probedServer(facts, running, serverAccess(flags.server).apiKey),
        ...common,
        onPlan: (plan) => printError(formatText(planText(plan))),
      },
      history,
      signal,
    );
  }
  return benchProbeAndRemember(
    {
      program: flags.bench ?? "llama-bench",
      options: await withModelHere(launch, signal),
      ...common,
      onPlan: (plan) => printError(formatText(planText(plan))),
    },
    history,
    signal,
  );
}

/** What is measured is computed with the weights: a download of them is nothing to start in a minute's budget. */
async function withModelHere(launch: LaunchOptions, signal: AbortSignal): Promise<LaunchOptions> {
  const { hfRepo, hfFile: _, modelUrl, ...options } = launch;
  const model = await launchedModelFile(launch, signal);
  if (model === undefined || !isUrl(model)) return { ...options, ...(model !== undefined && { model }) };
  const named = hfRepo === undefined ? `-mu ${modelUrl ?? model}` : `-hf ${hfRepo}`;
  throw new UserError(
    "notFound",
    say`A measurement needs the model's file, and it is not in llama.cpp's cache: ${named}.`,
    say`Download it first; llama-server ${named} does so.`,
  );
}

function curveLines({ curve, seconds, monitor }: ProbeReport): string[] {
  const points = curve.points.map((point) => [
    formatNumber(point.depth),
    formatNumber(point.tokens),
    formatNumber(point.seconds, "en", 2),
    formatNumber(point.tokens / point.seconds, "en", 1),
  ]);
  const generation = curve.generation.map((point) => [
    formatNumber(point.depth),
    formatNumber(point.tokensPerSecond, "en", 1),
  ]);
  return [
    ...table([["depth", "tokens", "seconds", "t/s"], ...points]),
    ...(generation.length === 0 ? [] : ["", ...table([["depth", "generation t/s"], ...generation])]),
    "",
    `measured in ${formatSeconds(seconds)}; machine ${monitor.verdict}`,
    ...foreignUseTexts(monitor).map((text) => formatText(text)),
  ];
}
