import { randomUUID } from "node:crypto";
import { armsOf } from "../../core/bench/comparisonArms";
import type { VariedOption } from "../../core/bench/comparisonArms";
import { benchArguments, speedFlags } from "../../core/llamaBench/benchArguments";
import { compare, defaultThreshold, type ComparisonResult } from "../../core/bench/comparison";
import type { AgreementSample, ComparisonAnswer, ComparisonArm } from "../../core/bench/comparison";
import { historyVersion, type HistoryRecord } from "../../core/history/historyRecord";
import { eventText } from "../../core/monitor/interference";
import type { MonitorReport } from "../../core/monitor/monitorSample";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import { formatText } from "../../core/format";
import { say } from "../../core/text";
import type { BenchStep } from "../../core/llamaBench/benchProgress";
import type { ProbeProgress } from "../../core/bench/probeReport";
import { runLlamaBench } from "./llamaBench";
import type { BenchRun } from "./llamaBench";
import { startMonitor } from "../monitor/monitor";

export interface ComparisonRequest {
  readonly program: string;
  readonly options: LaunchOptions;
  readonly varied: VariedOption;
  /** The setting of today and the one to compare it with. */
  readonly values: readonly [baseline: string, other: string];
  /** Compared at this depth; depth 0 runs along as the control for drift. */
  readonly depth: number;
  readonly repetitions?: number;
  readonly timeoutSeconds: number;
  /** Smallest difference that matters, as a part of 1. */
  readonly threshold?: number;
  /** From two servers, where there were two to ask. */
  readonly agreement?: AgreementSample;
  /** The other setting may change the answers, and they were not compared. */
  readonly unchecked?: boolean;
  readonly plannedSeconds?: number;
  readonly onProgress?: (progress: ProbeProgress) => void;
}

export interface ComparisonReport {
  readonly prefill: ComparisonAnswer;
  readonly generation: ComparisonAnswer;
  readonly arms: {
    readonly prefill: readonly ComparisonArm[];
    readonly generation: readonly ComparisonArm[];
  };
  readonly monitor: MonitorReport;
  readonly run: BenchRun;
}

/** Baseline, other, baseline again, in one process with one load of the model. */
export async function runComparison(
  request: ComparisonRequest,
  signal: AbortSignal,
): Promise<ComparisonReport> {
  const { varied, values, depth } = request;
  const monitor = startMonitor({ intervalSeconds: 2 });
  try {
    await monitor.baseline(3, signal);
    const [baseline, other] = values;
    const clock = new RunClock(depth, request.plannedSeconds);
    const { [varied.option]: _, ...rest } = request.options;
    const run = await runLlamaBench(
      {
        program: request.program,
        arguments: [...benchArguments(rest), varied.flag, [baseline, other, baseline].join(",")],
        depths: depth > 0 ? [0, depth] : [0],
        promptTokens: [512],
        generatedTokens: 32,
        repetitions: request.repetitions ?? 2,
        timeoutSeconds: request.timeoutSeconds,
        onStart: (pid) => {
          monitor.measure(pid);
        },
        onStep: (step) => request.onProgress?.(clock.at(step)),
      },
      signal,
    );
    const watched = await monitor.stop();
    const arms = {
      prefill: armsOf(run.rows, varied, "prefill"),
      generation: armsOf(run.rows, varied, "generation"),
    };
    const event = watched.verdict === "contaminated" ? watched.events[0] : undefined;
    const disturbed =
      run.failure?.problem ?? (run.cancelled ? say`it was stopped` : event && eventText(event));
    const answer = (kind: "prefill" | "generation"): ComparisonAnswer =>
      compare({
        kind,
        arms: arms[kind],
        depth,
        ...(request.threshold !== undefined && { threshold: request.threshold }),
        ...(request.agreement !== undefined && { agreement: request.agreement }),
        ...(request.unchecked !== undefined && { unchecked: request.unchecked }),
        ...(disturbed !== undefined && { disturbed }),
      });
    return { prefill: answer("prefill"), generation: answer("generation"), arms, monitor: watched, run };
  } finally {
    await monitor.stop();
  }
}

/** How far a comparison is, by the time its plan gives to it. */
class RunClock {
  readonly #began = performance.now() / 1000;

  constructor(
    private readonly depth: number,
    private readonly planned: number | undefined,
  ) {}

  at(step: BenchStep): ProbeProgress {
    const done = performance.now() / 1000 - this.#began;
    // without a plan the tests done so far tell: the deep ones take longest, and come in every third of the run
    const expected = this.planned ?? (done * step.tests) / Math.max(1, step.test - 1);
    const share = Math.min(0.99, done / Math.max(expected, 1e-3));
    return {
      phase: "measuring",
      share,
      remainingSeconds: Math.max(0, expected - done),
      depth: step.kind === "starting" ? 0 : this.depth,
    };
  }
}

/** The line of the history for a comparison. */
export function recordOfComparison(
  request: ComparisonRequest,
  { prefill, generation, monitor, run }: ComparisonReport,
  at: number,
): HistoryRecord {
  const comparison: ComparisonResult = {
    option: request.varied.flag,
    values: request.values,
    depth: request.depth,
    threshold: request.threshold ?? defaultThreshold,
    prefill,
    generation,
    ...(request.agreement !== undefined && { agreement: request.agreement }),
  };
  const [row] = run.rows;
  return {
    version: historyVersion,
    id: randomUUID(),
    kind: "comparison",
    at,
    tool: "llama-bench",
    key: {
      ...(row?.key ?? { build: "" }),
      model: request.options.model ?? request.options.hfRepo ?? row?.key.model ?? "",
      flags: speedFlags(request.options),
    },
    argv: run.argv,
    seconds: run.seconds,
    ended: run.cancelled ? "cancelled" : run.failure === undefined ? "finished" : "failed",
    monitor,
    comparison,
    ...(run.failure !== undefined && { error: formatText(run.failure.problem) }),
    // what cannot be made into an answer is kept as it came
    ...(run.rejected.length > 0 && {
      raw: run.rejected
        .map(({ raw }) => raw)
        .join("\n")
        .slice(0, 20_000),
    }),
  };
}
