import { InvalidArgumentError } from "commander";
import { formatNumber, formatSeconds, formatText } from "../core/format";
import { speedFlags } from "../core/llamaBench/benchArguments";
import { planText } from "../core/bench/probePlan";
import type { ProbeProgress, ProbeReport } from "../core/bench/probeReport";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { runBenchProbe } from "../node/llamaBench/llamaBenchProbe";
import { runServerProbe } from "../app/serverProbe";
import { wholeNumber } from "./arguments";
import type { CliCommand, CliContext } from "./command";
import { serverAccess } from "./count";
import { launchOptions } from "./memory";
import { endProgress, printError, printJson, printLines, printProgress, table } from "./output";

interface ProbeFlags {
  readonly server?: string;
  readonly bench?: string;
  readonly budget: number;
  readonly depths?: readonly number[];
  readonly json?: true;
}

export const addProbe: CliCommand = (program, context) => {
  program
    .command("probe")
    .description(
      "measure prefill by depth: on a running server, or with llama-bench and the arguments after --",
    )
    .option("--server <url>", "the llama-server to measure; it must be idle")
    .option("--bench <file>", "the llama-bench to run")
    .option("--budget <seconds>", "how long the whole may take", wholeNumber, 60)
    .option("--depths <list>", "depths in tokens, for example 0,4096,16384", depthList)
    .option("--json", "one JSON document on stdout")
    .action(async (flags: ProbeFlags) => {
      const report = await measured(flags, context);
      endProgress();
      for (const warning of report.warnings) printError(formatText(warning));
      if (flags.json) printJson({ ...report, drift: report.drift ?? null });
      else printLines(curveLines(report));
    });
};

async function measured(flags: ProbeFlags, { serverArguments, signal }: CliContext): Promise<ProbeReport> {
  const deepest = flags.depths === undefined ? undefined : Math.max(...flags.depths);
  const common = {
    budgetSeconds: flags.budget,
    onProgress: ({ share, remainingSeconds, depth }: ProbeProgress) =>
      printProgress(
        `${formatNumber(share * 100)} %, depth ${formatNumber(depth)}, ${formatSeconds(remainingSeconds)} to go`,
      ),
  };
  if ((flags.server === undefined) === (flags.bench === undefined)) {
    throw new UserError(
      "invalidInput",
      say`One of --server and --bench is needed.`,
      say`Name the one to measure.`,
    );
  }
  if (flags.server !== undefined) {
    return runServerProbe(
      {
        ...serverAccess(flags.server),
        ...common,
        flags: speedFlags(await launchOptions(serverArguments)),
        ...(deepest !== undefined && { maxDepth: deepest }),
        onPlan: (plan) => printError(formatText(planText(plan))),
      },
      signal,
    );
  }
  return runBenchProbe(
    {
      program: flags.bench ?? "llama-bench",
      options: await launchOptions(serverArguments),
      ...common,
      ...(flags.depths !== undefined && { depths: flags.depths }),
      onPlan: (plan) => printError(formatText(planText(plan))),
    },
    signal,
  );
}

function depthList(text: string): readonly number[] {
  if (!/^\d{1,9}(,\d{1,9})*$/.test(text))
    throw new InvalidArgumentError("Depths are whole numbers with commas between.");
  return text.split(",").map(Number);
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
  ];
}
