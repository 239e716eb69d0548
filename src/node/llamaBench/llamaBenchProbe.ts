import { stat } from "node:fs/promises";
import { benchArguments, speedFlags } from "../../core/llamaBench/benchArguments";
import type { BenchRow } from "../../core/llamaBench/benchRow";
import { curvesOf } from "../../core/llamaBench/benchCurve";
import { judgeDrift } from "../../core/bench/drift";
import { probeCurve, sessionSpreadOf, unwatchedSpread } from "../../core/bench/probeCurve";
import { relativeGrowth, planBench } from "../../core/bench/probePlan";
import type { BenchPlan, Feasibility } from "../../core/bench/probePlan";
import type { ProbeProgress, ProbeReport } from "../../core/bench/probeReport";
import { costSteps } from "../../core/bench/costSteps";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import type { CurveKey, DepthCurve } from "../../core/prefill/depthCurve";
import { bytes, say, seconds } from "../../core/text";
import type { Text } from "../../core/text";
import { UserError } from "../../core/userError";
import { runLlamaBench } from "./llamaBench";
import type { BenchRun } from "./llamaBench";
import { startMonitor } from "../monitor/monitor";
import type { Monitor } from "../monitor/monitor";
import { smallest } from "../../core/lists";

export interface BenchProbeRequest {
  /** The llama-bench to run. */
  readonly program: string;
  /** The server's options; what changes speed is copied. */
  readonly options: LaunchOptions;
  readonly budgetSeconds?: number;
  readonly depths?: readonly number[];
  /** Deepest position that is of use; the context by default. */
  readonly maxDepth?: number;
  /** Called before the long part starts, with what it will cost. */
  readonly onPlan?: (plan: BenchPlan) => void;
  readonly onProgress?: (progress: ProbeProgress) => void;
  /** What has been measured so far, after every test: it outlives whoever asks for it. */
  readonly onMeasured?: (curve: DepthCurve) => void;
}

const feasibilityTokens = 2048;
const baselineSamples = 3;

/**
 * Measures prefill and generation at a few depths with llama-bench. Fails with `UserError` only when nothing at all was
 * measured; a probe that is cancelled or dies half-way returns what it has.
 */
export async function runBenchProbe(request: BenchProbeRequest, signal: AbortSignal): Promise<ProbeReport> {
  const budgetSeconds = request.budgetSeconds ?? 60;
  const began = performance.now() / 1000;
  const monitor = startMonitor({ intervalSeconds: 1, usesCpu: true });
  try {
    await monitor.baseline(baselineSamples, signal);
    await refuseWhatHasNoRoom(request, monitor);
    request.onProgress?.({ phase: "feasibility", share: 0, remainingSeconds: budgetSeconds, depth: 0 });
    const first = await feasibility(request, monitor, budgetSeconds, signal);
    if (first.run.cancelled) signal.throwIfAborted();
    const plan = planOf(request, first.seen, budgetSeconds - (performance.now() / 1000 - began));
    request.onPlan?.(plan);
    signal.throwIfAborted();
    const run = await measure(request, plan, monitor, signal);
    return report(request, { run, first: first.run, plan, monitor: await monitor.stop(), began });
  } finally {
    await monitor.stop();
  }
}

async function refuseWhatHasNoRoom({ options }: BenchProbeRequest, monitor: Monitor): Promise<void> {
  const free = monitor.freeMemoryBytes;
  const needed =
    options.model === undefined
      ? undefined
      : await stat(options.model).then(
          (s) => s.size,
          () => undefined,
        );
  if (free === undefined || needed === undefined || needed <= free) return;
  throw new UserError(
    "tooLarge",
    say`llama-bench would load the model again and needs ${bytes(needed)}; ${bytes(free)} of memory is free.`,
    say`Probe the running server instead, or stop it first.`,
  );
}

/** What the first tokens cost, to price something longer. Fails with `UserError` where llama-bench measures nothing. */
export async function measureFirstTokens(
  request: Pick<BenchProbeRequest, "program" | "options">,
  signal: AbortSignal,
): Promise<Feasibility> {
  return (await feasibility(request, undefined, 60, signal)).seen;
}

async function feasibility(
  request: BenchProbeRequest,
  monitor: Monitor | undefined,
  budgetSeconds: number,
  signal: AbortSignal,
): Promise<{ readonly seen: Feasibility; readonly run: BenchRun }> {
  const { ctxSize = 0 } = request.options;
  const room = Math.min(request.maxDepth ?? feasibilityTokens, ctxSize > 0 ? ctxSize : feasibilityTokens);
  const head = Math.floor(Math.min(feasibilityTokens, room) / 4) * 4;
  const run = await runLlamaBench(
    {
      program: request.program,
      arguments: benchArguments(request.options),
      depths: [0],
      promptTokens: [head / 4, head],
      generatedTokens: 8,
      repetitions: 1,
      timeoutSeconds: Math.max(60, 3 * budgetSeconds),
      onStart: (pid) => {
        monitor?.measure(pid);
      },
    },
    signal,
  );
  if (run.failure !== undefined && run.rows.length === 0) throw run.failure;
  signal.throwIfAborted();
  const prompt = run.rows.find((row) => row.promptTokens === head);
  const short = run.rows.find((row) => row.promptTokens === head / 4);
  const answer = run.rows.find((row) => row.generatedTokens > 0);
  const promptSeconds = prompt?.samples[0];
  if (prompt === undefined || promptSeconds === undefined) {
    throw new UserError(
      "badOutput",
      say`llama-bench printed no measurement.`,
      say`Run it manually with -o jsonl to see what it prints.`,
    );
  }
  const answerSeconds = answer?.samples[0];
  const shortSeconds = short?.samples[0];
  const growth =
    shortSeconds === undefined
      ? undefined
      : relativeGrowth({ tokens: head / 4, seconds: shortSeconds }, { tokens: head, seconds: promptSeconds });
  return {
    run,
    seen: {
      secondsPerToken: promptSeconds / prompt.promptTokens,
      tokens: prompt.promptTokens,
      ...(growth !== undefined && { growth }),
      ...(answer !== undefined &&
        answerSeconds !== undefined && { generationSecondsPerToken: answerSeconds / answer.generatedTokens }),
      ...(run.loadSeconds !== undefined && { loadSeconds: run.loadSeconds }),
    },
  };
}

function planOf(request: BenchProbeRequest, seen: Feasibility, budgetSeconds: number): BenchPlan {
  const { options, depths } = request;
  const context = options.ctxSize !== undefined && options.ctxSize > 0 ? options.ctxSize : 131_072;
  const maxDepth = request.maxDepth ?? context;
  const plan = planBench(seen, { budgetSeconds, maxDepth, ...(depths !== undefined && { depths }) });
  if (plan !== undefined) return plan;
  throw new UserError(
    "tooLarge",
    say`In ${seconds(budgetSeconds)} this machine reads too few tokens to show how prefill slows down with depth.`,
    say`Allow the probe more time.`,
  );
}

/** The plan's depths and depth 0 once more: if that moved, the machine did. */
async function measure(
  request: BenchProbeRequest,
  plan: BenchPlan,
  monitor: Monitor,
  signal: AbortSignal,
): Promise<BenchRun> {
  const started = performance.now() / 1000;
  const depths = plan.depths[0] === 0 && plan.depths.length > 1 ? [...plan.depths, 0] : plan.depths;
  return runLlamaBench(
    {
      program: request.program,
      arguments: benchArguments(request.options),
      depths,
      promptTokens: [plan.promptTokens],
      generatedTokens: plan.generatedTokens,
      repetitions: plan.repetitions,
      timeoutSeconds: Math.max(60, 4 * plan.seconds),
      onStart: (pid) => {
        monitor.measure(pid);
      },
      onRows: (rows) => {
        const [measured] = curvesOf(rows);
        if (measured === undefined || measured.points.length === 0) return;
        request.onMeasured?.(probeCurve(keyOf(request, measured.key), measured, unwatchedSpread));
      },
      onStep: (step) => {
        const share = Math.min(0.99, (performance.now() / 1000 - started) / plan.seconds);
        const depth = depths[Math.floor((step.test - 1) / 2)] ?? 0;
        request.onProgress?.({
          phase: "measuring",
          share,
          remainingSeconds: plan.seconds * (1 - share),
          depth,
        });
      },
    },
    signal,
  );
}

function report(
  request: BenchProbeRequest,
  {
    run,
    first,
    plan,
    monitor,
    began,
  }: {
    readonly run: BenchRun;
    readonly first: BenchRun;
    readonly plan: BenchPlan;
    readonly monitor: ProbeReport["monitor"];
    readonly began: number;
  },
): ProbeReport {
  // The feasibility run is a span like any other, but the program had just started: only used where nothing else is.
  const rows = run.rows.some((row) => row.promptTokens > 0) ? run.rows : [...first.rows, ...run.rows];
  const [measured] = curvesOf(rows);
  const drift = driftAt0(run.rows);
  const points = [...(measured?.points ?? []), ...run.fills.filter((f) => f.tokens >= plan.promptTokens)];
  const warnings: Text[] = [
    ...(run.failure === undefined ? [] : [run.failure.problem]),
    ...run.rejected.map((row) => say`A row was rejected (${row.why}): ${row.raw.slice(0, 200)}`),
    ...run.warnings.slice(0, 5).map((line) => say`llama-bench: ${line.slice(0, 200)}`),
  ];
  return {
    curve: probeCurve(
      keyOf(request, measured?.key),
      { points, generation: measured?.generation ?? [] },
      sessionSpreadOf(monitor, drift),
    ),
    plannedSeconds: plan.seconds,
    plannedTokens: plan.tokens,
    seconds: performance.now() / 1000 - began,
    ended: run.cancelled ? "cancelled" : run.failure === undefined ? "finished" : "failed",
    monitor,
    ...(drift !== undefined && { drift }),
    steps: costSteps(points),
    warnings,
  };
}

function keyOf({ options }: BenchProbeRequest, told: CurveKey | undefined): CurveKey {
  return {
    ...(told ?? { build: "" }),
    model: options.model ?? options.hfRepo ?? told?.model ?? "",
    flags: speedFlags(options),
  };
}

function driftAt0(rows: readonly BenchRow[]): ProbeReport["drift"] {
  const costs = rows
    .filter((row) => row.depth === 0 && row.promptTokens > 0)
    .map((row) => smallest(row.samples));
  const [first, last] = [costs[0], costs.at(-1)];
  return first === undefined || last === undefined || costs.length < 2
    ? undefined
    : judgeDrift(first, last, "prefill");
}
