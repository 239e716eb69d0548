import { randomUUID } from "node:crypto";
import { armsOf, changesAnswers } from "../../core/bench/comparisonArms";
import { benchDepths } from "../../core/bench/comparisonPlan";
import {
  optionsOf,
  pairOf,
  type ComparedSettings,
  type ComparisonChoice,
} from "../../core/bench/comparisonSetup";
import type { SpeedKind } from "../../core/bench/drift";
import { benchArguments, speedFlags } from "../../core/llamaBench/benchArguments";
import type { BenchRow } from "../../core/llamaBench/benchRow";
import { compare, defaultThreshold, type ComparisonResult } from "../../core/bench/comparison";
import type { AgreementSample, ComparisonAnswer, ComparisonArm } from "../../core/bench/comparison";
import { earlierChanges } from "../../core/history/earlierComparisons";
import { historyVersion, type HistoryRecord } from "../../core/history/historyRecord";
import { eventText } from "../../core/monitor/interference";
import type { MonitorReport } from "../../core/monitor/monitorSample";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import { formatText } from "../../core/format";
import type { CurveKey } from "../../core/prefill/depthCurve";
import { say, type Text } from "../../core/text";
import type { BenchStep } from "../../core/llamaBench/benchProgress";
import type { ProbeProgress } from "../../core/bench/probeReport";
import { append } from "../../core/lists";
import { runLlamaBench } from "./llamaBench";
import type { BenchRun } from "./llamaBench";
import { startMonitor, type Monitor } from "../monitor/monitor";

export interface ComparisonRequest {
  readonly program: string;
  readonly options: LaunchOptions;
  readonly choice: ComparisonChoice;
  readonly repetitions?: number;
  readonly timeoutSeconds: number;
  /** Smallest difference that matters, as a part of 1. */
  readonly threshold?: number;
  /** For each of the others, from two servers; undefined where there were none to ask. */
  readonly agreements?: readonly (AgreementSample | undefined)[];
  /** Earlier runs, whichever they are. */
  readonly records?: readonly HistoryRecord[];
  readonly plannedSeconds?: number;
  readonly onProgress?: (progress: ProbeProgress) => void;
}

export interface ComparisonReport {
  /** For each of the others, at each depth. */
  readonly results: readonly ComparisonResult[];
  readonly arms: {
    readonly prefill: readonly ComparisonArm[];
    readonly generation: readonly ComparisonArm[];
  };
  readonly monitor: MonitorReport;
  /** One where one option is varied between two values, else one for each arm. */
  readonly runs: readonly BenchRun[];
}

/** Baseline, others, baseline again, at all depths; in one process with one load of the model where llama-bench can. */
export async function runComparison(
  request: ComparisonRequest,
  signal: AbortSignal,
): Promise<ComparisonReport> {
  const monitor = startMonitor({ intervalSeconds: 2 });
  try {
    await monitor.baseline(3, signal);
    const runs = await runArms(request, monitor, signal);
    const watched = await monitor.stop();
    const varied = optionsOf(request.choice.baseline);
    const rows = runs.flatMap((run) => run.rows);
    const arms = {
      prefill: armsOf(rows, varied, "prefill"),
      generation: armsOf(rows, varied, "generation"),
    };
    return { results: resultsOf(request, { arms, runs, monitor: watched }), arms, monitor: watched, runs };
  } finally {
    await monitor.stop();
  }
}

/** Stops at the first run that fails. */
async function runArms(
  request: ComparisonRequest,
  monitor: Monitor,
  signal: AbortSignal,
): Promise<readonly BenchRun[]> {
  const { choice, options } = request;
  const rest = withoutOptions(options, choice.baseline);
  const calls = armArguments(choice);
  const clock = new RunClock(request.plannedSeconds, calls.length);
  const began = performance.now() / 1000;
  const runs: BenchRun[] = [];
  for (const each of calls) {
    const run = await runLlamaBench(
      {
        program: request.program,
        arguments: [...benchArguments(rest), ...each],
        depths: benchDepths(choice.depths),
        promptTokens: [512],
        generatedTokens: 32,
        repetitions: request.repetitions ?? 2,
        timeoutSeconds: Math.max(1, request.timeoutSeconds - (performance.now() / 1000 - began)),
        onStart: (pid) => {
          monitor.measure(pid);
        },
        onStep: (step) => request.onProgress?.(clock.at(step, runs.length)),
      },
      signal,
    );
    runs.push(run);
    if (run.failure !== undefined || run.cancelled) break;
  }
  return runs;
}

function withoutOptions(options: LaunchOptions, settings: ComparedSettings): LaunchOptions {
  const varied = new Set<string>(optionsOf(settings).map(({ option }) => option));
  return Object.fromEntries(Object.entries(options).filter(([name]) => !varied.has(name)));
}

/** llama-bench runs every combination of lists, so only one option can be a list of its arms. */
function armArguments({ baseline, others }: ComparisonChoice): readonly (readonly string[])[] {
  const [other, ...more] = others;
  const [option, ...moreOptions] = optionsOf(baseline);
  const valueIn = (settings: ComparedSettings, name: keyof ComparedSettings): string =>
    settings[name] ?? baseline[name] ?? "";
  if (other !== undefined && option !== undefined && more.length === 0 && moreOptions.length === 0) {
    const [first, second] = [valueIn(baseline, option.option), valueIn(other, option.option)];
    return [[option.flag, [first, second, first].join(",")]];
  }
  return [baseline, ...others, baseline].map((settings) =>
    optionsOf(baseline).flatMap(({ option: name, flag }) => [flag, valueIn(settings, name)]),
  );
}

interface Measured {
  readonly arms: ComparisonReport["arms"];
  readonly runs: readonly BenchRun[];
  readonly monitor: MonitorReport;
}

function resultsOf(request: ComparisonRequest, measured: Measured): readonly ComparisonResult[] {
  const { choice, threshold = defaultThreshold } = request;
  const key = keyOf(request, measured.runs);
  const disturbed = disturbedBy(measured);
  return choice.others.flatMap((other, i) => {
    const agreement = request.agreements?.[i];
    const pair = pairOf(choice.baseline, other);
    return choice.depths.map((depth): ComparisonResult => {
      const answer = (kind: SpeedKind): ComparisonAnswer => {
        const arms = measured.arms[kind];
        const [first, own, last] = [arms[0], arms[i + 1], arms[choice.others.length + 1]];
        return compare({
          kind,
          depth,
          threshold,
          arms: [first, own, last].filter((arm) => arm !== undefined),
          position: (i + 1) / (choice.others.length + 1),
          at: Date.now(),
          earlier: earlierChanges(request.records ?? [], { ...pair, depth, kind, key }),
          unchecked: agreement === undefined && optionsOf(other).some(changesAnswers),
          ...(agreement !== undefined && { agreement }),
          ...(disturbed !== undefined && { disturbed }),
        });
      };
      return {
        ...pair,
        depth,
        threshold,
        prefill: answer("prefill"),
        generation: answer("generation"),
        ...(agreement !== undefined && { agreement }),
      };
    });
  });
}

function disturbedBy({ runs, monitor }: Measured): Text | undefined {
  const failed = runs.find((run) => run.failure !== undefined);
  if (failed?.failure !== undefined) return failed.failure.problem;
  if (runs.some((run) => run.cancelled)) return say`it was stopped`;
  const event = monitor.verdict === "contaminated" ? monitor.events[0] : undefined;
  return event && eventText(event);
}

function keyOf({ options }: ComparisonRequest, runs: readonly BenchRun[]): CurveKey {
  const row: BenchRow | undefined = runs[0]?.rows[0];
  return {
    ...(row?.key ?? { build: "" }),
    model: options.model ?? options.hfRepo ?? row?.key.model ?? "",
    flags: speedFlags(options),
  };
}

/** How far a comparison is, by the time its plan gives to it. */
class RunClock {
  readonly #began = performance.now() / 1000;

  constructor(
    private readonly planned: number | undefined,
    private readonly calls: number,
  ) {}

  /** @param finished calls that are over */
  at(step: BenchStep, finished: number): ProbeProgress {
    const done = performance.now() / 1000 - this.#began;
    const part = (finished + (step.test - 1) / step.tests) / this.calls;
    // without a plan the tests done so far tell: the deep ones take longest, and come in every arm
    const expected = this.planned ?? done / Math.max(part, 0.5 / this.calls / step.tests);
    const share = Math.min(0.99, done / Math.max(expected, 1e-3));
    return { phase: "measuring", share, remainingSeconds: Math.max(0, expected - done), depth: 0 };
  }
}

/** The lines of the history for a comparison: one for each of the others at each depth. */
export function recordsOfComparison(
  request: ComparisonRequest,
  { results, monitor, runs }: ComparisonReport,
  at: number,
): readonly HistoryRecord[] {
  const failure = runs.find((run) => run.failure !== undefined)?.failure;
  const argv: string[] = [];
  for (const run of runs) append(argv, argv.length > 0 ? ["&&", ...run.argv] : run.argv);
  const rejected = runs.flatMap((run) => run.rejected);
  return results.map((comparison) => ({
    version: historyVersion,
    id: randomUUID(),
    kind: "comparison" as const,
    at,
    tool: "llama-bench",
    key: keyOf(request, runs),
    argv,
    seconds: runs.reduce((sum, run) => sum + run.seconds, 0),
    ended: runs.some((run) => run.cancelled) ? "cancelled" : failure === undefined ? "finished" : "failed",
    monitor,
    comparison,
    ...(failure !== undefined && { error: formatText(failure.problem) }),
    // what cannot be made into an answer is kept as it came
    ...(rejected.length > 0 && {
      raw: rejected
        .map(({ raw }) => raw)
        .join("\n")
        .slice(0, 20_000),
    }),
  }));
}
