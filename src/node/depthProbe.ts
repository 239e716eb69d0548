import { randomUUID } from "node:crypto";
import { speedFlags } from "../core/bench/benchArguments";
import { chooseCurve, curvesOfModel, type MeasuredCurve } from "../core/bench/curveChoice";
import { recordOfProbe } from "../core/bench/historyRecord";
import type { ProbeReport } from "../core/bench/probeReport";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { HistoryStore } from "./historyStore";
import { runBenchProbe, type BenchProbeRequest } from "./llamaBenchProbe";
import { runServerProbe, type ServerProbeRequest } from "./serverProbe";

/** Measures the running server and writes the result down, also where it was cut short. */
export async function probeAndRemember(
  request: ServerProbeRequest & { readonly launch: LaunchOptions },
  history: HistoryStore,
  signal: AbortSignal,
): Promise<ProbeReport> {
  const { launch, ...probe } = request;
  const report = await runServerProbe({ ...probe, flags: speedFlags(launch) }, signal);
  await remember(report, "llama-server", history);
  return report;
}

/** Measures with llama-bench and writes the result down, also where it was cut short. */
export async function benchProbeAndRemember(
  request: BenchProbeRequest,
  history: HistoryStore,
  signal: AbortSignal,
): Promise<ProbeReport> {
  const report = await runBenchProbe(request, signal);
  await remember(report, "llama-bench", history);
  return report;
}

async function remember(report: ProbeReport, tool: string, history: HistoryStore): Promise<void> {
  await history.append(recordOfProbe(report, { id: randomUUID(), at: Date.now(), tool }));
}

/** What was measured of this model: with these options, and with any. */
export async function rememberedCurves(
  history: HistoryStore,
  { model, build }: { readonly model: string; readonly build: string },
  launch: LaunchOptions,
  signal: AbortSignal,
): Promise<{ readonly current: MeasuredCurve | undefined; readonly all: readonly MeasuredCurve[] }> {
  const { records } = await history.read(signal);
  const now = Date.now();
  return {
    current: chooseCurve(records, { model, build, flags: speedFlags(launch), now }),
    all: curvesOfModel(records, { model, build, now }),
  };
}
