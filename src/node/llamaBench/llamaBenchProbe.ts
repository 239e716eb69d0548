import { stat } from "node:fs/promises";
import { benchArguments, speedFlags } from "../../core/llamaBench/benchArguments";
import type { BenchRow } from "../../core/llamaBench/benchRow";
import { curvesOf } from "../../core/llamaBench/benchCurve";
import { judgeDrift } from "../../core/bench/drift";
import { probeCurve, sessionSpreadOf, unwatchedSpread } from "../../core/bench/probeCurve";
import { planBench, refuseDear, relativeGrowth, withRepeat } from "../../core/bench/probePlan";
import type { BenchPlan, Feasibility } from "../../core/bench/probePlan";
import type { ProbeEnd, ProbeProgress, ProbeReport } from "../../core/bench/probeReport";
import { costSteps } from "../../core/bench/costSteps";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import type { CurveKey, DepthCurve } from "../../core/prefill/depthCurve";
import { given } from "../../core/given";
import { bytes, say, seconds } from "../../core/text";
import type { Text } from "../../core/text";
import { UserError } from "../../core/userError";
import { runLlamaBench } from "./llamaBench";
import type { BenchRun } from "./llamaBench";
import { startMonitor } from "../monitor/monitor";
import type { Monitor } from "../monitor/monitor";
import { smallest } from "../../core/lists";
import { baselineSamples, TimeBudget } from "../waiting/timeBudget";

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
/** What a longer prompt may take of the budget that is left, by what the short one took. */
const headShare = 0.25;
/** What loading the model and the first tokens may take of the budget. */
const feasibilityShare = 0.6;

/**
 * Measures prefill and generation at a few depths with llama-bench. Fails with `UserError` only when nothing at all was
 * measured; a probe that is cancelled or dies half-way returns what it has.
 */
export async function runBenchProbe(request: BenchProbeRequest, signal: AbortSignal): Promise<ProbeReport> {
  const time = new TimeBudget(request.budgetSeconds ?? 60);
  const monitor = startMonitor({ intervalSeconds: 1, usesCpu: true });
  try {
    await monitor.baseline(baselineSamples(time.seconds), signal);
    await refuseWhatHasNoRoom(request, monitor);
    request.onProgress?.({ phase: "feasibility", share: 0, remainingSeconds: time.seconds, depth: 0 });
    const first = await feasibility(request, { monitor, time }, signal);
    const plan = planOf(request, first.seen, time);
    request.onPlan?.(plan);
    signal.throwIfAborted();
    const run = await measure(request, plan, { monitor, time }, signal);
    return report(request, { run, first: first.run, plan, monitor: await monitor.stop(), time });
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
  return (await feasibility(request, { time: new TimeBudget(firstTokensSeconds) }, signal)).seen;
}

const firstTokensSeconds = 300;

interface BenchWatch {
  readonly monitor?: Monitor;
  readonly time: TimeBudget;
}

async function feasibility(
  request: BenchProbeRequest,
  { monitor, time }: BenchWatch,
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
      promptTokens: [head / 4],
      generatedTokens: 8,
      // llama-bench measures this last, so that it can be left out
      together: { promptTokens: head, generatedTokens: 1 },
      repetitions: 1,
      timeoutSeconds: Math.max(1, feasibilityShare * time.seconds - time.spent),
      onStart: (pid) => {
        monitor?.measure(pid);
      },
      enough: (rows) => {
        const [short] = promptRows(rows);
        const [seconds = 0] = short?.samples ?? [];
        // a warm-up of the same length comes first
        return rows.length >= 2 && 2 * 4 * 1.2 * seconds > headShare * time.left;
      },
    },
    signal,
  );
  signal.throwIfAborted();
  const seen = feasibilityOf(run);
  if (seen !== undefined) return { run, seen };
  if (run.failure?.reason === "timeout") throw tooSlow(time.seconds);
  if (run.failure !== undefined) throw run.failure;
  throw new UserError(
    "badOutput",
    say`llama-bench printed no measurement.`,
    say`Run it manually with -o jsonl to see what it prints.`,
  );
}

const promptRows = (rows: readonly BenchRow[]): readonly BenchRow[] =>
  rows.filter((row) => row.promptTokens > 0 && row.generatedTokens === 0);

/** Undefined where not even the short prompt was measured. */
function feasibilityOf({ rows, loadSeconds }: BenchRun): Feasibility | undefined {
  const [short] = promptRows(rows);
  const [shortSeconds] = short?.samples ?? [];
  if (short === undefined || shortSeconds === undefined) return undefined;
  const answer = rows.find((row) => row.generatedTokens > 0 && row.promptTokens === 0);
  const [answerSeconds] = answer?.samples ?? [];
  const perToken =
    answer === undefined || answerSeconds === undefined ? undefined : answerSeconds / answer.generatedTokens;
  const both = rows.find((row) => row.generatedTokens > 0 && row.promptTokens > 0);
  const [bothSeconds] = both?.samples ?? [];
  const { promptTokens } = short;
  const known = given({ generationSecondsPerToken: perToken, loadSeconds });
  const longSeconds =
    bothSeconds === undefined ? 0 : bothSeconds - (perToken ?? 0) * (both?.generatedTokens ?? 0);
  if (both === undefined || longSeconds <= 0) {
    return { secondsPerToken: shortSeconds / promptTokens, tokens: promptTokens, ...known };
  }
  const long = { tokens: both.promptTokens, seconds: longSeconds };
  const growth = relativeGrowth({ tokens: promptTokens, seconds: shortSeconds }, long);
  return {
    secondsPerToken: long.seconds / long.tokens,
    tokens: long.tokens,
    ...(growth !== undefined && { growth }),
    ...known,
  };
}

function planOf(request: BenchProbeRequest, seen: Feasibility, time: TimeBudget): BenchPlan {
  const { options, depths } = request;
  const context = options.ctxSize !== undefined && options.ctxSize > 0 ? options.ctxSize : 131_072;
  const maxDepth = request.maxDepth ?? context;
  const { left } = time;
  const plan = planBench(seen, { budgetSeconds: left, maxDepth, ...(depths !== undefined && { depths }) });
  if (plan === undefined) throw tooSlow(time.seconds);
  if (depths !== undefined) refuseDear(plan, { budgetSeconds: time.seconds, left });
  return plan;
}

const tooSlow = (budgetSeconds: number): UserError =>
  new UserError(
    "tooLarge",
    say`In ${seconds(budgetSeconds)} this machine reads too few tokens to show how prefill slows down with depth.`,
    say`Allow the probe more time.`,
  );

/** The plan's depths and depth 0 once more: if that moved, the machine did. */
async function measure(
  request: BenchProbeRequest,
  plan: BenchPlan,
  { monitor, time }: BenchWatch,
  signal: AbortSignal,
): Promise<BenchRun> {
  const started = time.spent;
  const depths = withRepeat(plan.depths);
  return runLlamaBench(
    {
      program: request.program,
      arguments: benchArguments(request.options),
      depths,
      promptTokens: [plan.promptTokens],
      generatedTokens: plan.generatedTokens,
      repetitions: plan.repetitions,
      timeoutSeconds: Math.max(1, time.untilEnd),
      onStart: (pid) => {
        monitor?.measure(pid);
      },
      onRows: (rows) => {
        const [measured] = curvesOf(rows);
        if (measured === undefined || measured.points.length === 0) return;
        request.onMeasured?.(probeCurve(keyOf(request, measured.key), measured, unwatchedSpread));
      },
      onStep: (step) => {
        const share = Math.min(0.99, (time.spent - started) / plan.seconds);
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
    time,
  }: {
    readonly run: BenchRun;
    readonly first: BenchRun;
    readonly plan: BenchPlan;
    readonly monitor: ProbeReport["monitor"];
    readonly time: TimeBudget;
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
    seconds: time.spent,
    ended: endOf(run),
    monitor,
    ...(drift !== undefined && { drift }),
    steps: costSteps(points),
    warnings,
  };
}

function endOf({ cancelled, failure }: BenchRun): ProbeEnd {
  if (cancelled) return "cancelled";
  if (failure === undefined) return "finished";
  return failure.reason === "timeout" ? "budget" : "failed";
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
