import { armsOf } from "../core/bench/benchArms";
import type { VariedOption } from "../core/bench/benchArms";
import { benchArguments } from "../core/bench/benchArguments";
import { compare } from "../core/bench/comparison";
import type { AgreementSample, ComparisonAnswer, ComparisonArm } from "../core/bench/comparison";
import { eventText } from "../core/bench/interference";
import type { MonitorReport } from "../core/bench/monitorSample";
import type { LaunchOptions } from "../core/launch/launchOptions";
import { say } from "../core/text";
import { runLlamaBench } from "./llamaBench";
import type { BenchCall, BenchRun } from "./llamaBench";
import { startMonitor } from "./monitor";

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
  readonly onStep?: BenchCall["onStep"];
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
        ...(request.onStep !== undefined && { onStep: request.onStep }),
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
        ...(disturbed !== undefined && { disturbed }),
      });
    return { prefill: answer("prefill"), generation: answer("generation"), arms, monitor: watched, run };
  } finally {
    await monitor.stop();
  }
}
