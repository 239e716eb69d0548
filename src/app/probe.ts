import { randomUUID } from "node:crypto";
import path from "node:path";
import type { ServerFacts } from "../core/acceptance/serverFacts";
import { speedFlags } from "../core/llamaBench/benchArguments";
import { chooseCurve, curvesOfModel, type MeasuredCurve } from "../core/history/curveChoice";
import { historyVersion, recordOfProbe, recordOfUnfinished } from "../core/history/historyRecord";
import type { ProbeReport } from "../core/bench/probeReport";
import type { LaunchOptions } from "../core/launch/launchOptions";
import { formatText } from "../core/format";
import type { DepthCurve } from "../core/prefill/depthCurve";
import { UserError } from "../core/userError";
import type { HistoryStore } from "./historyStore";
import { runBenchProbe, type BenchProbeRequest } from "../node/llamaBench/llamaBenchProbe";
import { runServerProbe, type ServerProbeRequest } from "./measuring/serverProbe";

/** A running server and the options that are known of it. */
export interface ProbedServer {
  readonly url: string;
  readonly apiKey?: string;
  /** Which of a router's models. */
  readonly model?: string;
  readonly launch: LaunchOptions;
}

/** The server of a situation; a router measures the model that was asked about. */
export function probedServer(
  { url, role, model }: ServerFacts,
  launch: LaunchOptions,
  apiKey: string | undefined,
): ProbedServer {
  return {
    ...{ url, launch },
    ...(apiKey !== undefined && { apiKey }),
    ...(role === "router" && { model: model.id }),
  };
}

/** Measures the running server and writes the result down, also where it was cut short. No history: nothing is kept. */
export async function probeAndRemember(
  request: ServerProbeRequest & ProbedServer,
  history: HistoryStore | undefined,
  signal: AbortSignal,
): Promise<ProbeReport> {
  const { launch, ...probe } = request;
  return remembered("llama-server", history, (onMeasured) =>
    runServerProbe({ ...probe, flags: speedFlags(launch), ...(onMeasured && { onMeasured }) }, signal),
  );
}

/** Measures with llama-bench and writes the result down, also where it was cut short. No history: nothing is kept. */
export async function benchProbeAndRemember(
  request: BenchProbeRequest,
  history: HistoryStore | undefined,
  signal: AbortSignal,
): Promise<ProbeReport> {
  const { model } = request.options;
  const options = { ...request.options, ...(model !== undefined && { model: absoluteModel(model) }) };
  return remembered("llama-bench", history, (onMeasured) =>
    runBenchProbe({ ...request, options, ...(onMeasured && { onMeasured }) }, signal),
  );
}

/** A model's file as curves are kept under it, wherever the program was started. */
export const absoluteModel = (file: string): string => (/^https?:/i.test(file) ? file : path.resolve(file));

/** Writes down what is measured while it is measured: nobody who is killed can do it afterwards. */
async function remembered(
  tool: string,
  history: HistoryStore | undefined,
  run: (onMeasured?: (curve: DepthCurve) => void) => Promise<ProbeReport>,
): Promise<ProbeReport> {
  const dated = (report: ProbeReport): ProbeReport => ({
    ...report,
    curve: { ...report.curve, measuredAt: new Date().toISOString() },
  });
  if (history === undefined) return dated(await run());
  const about = { id: randomUUID(), at: Date.now(), tool };
  let written = Promise.resolve();
  const found = await run((curve) => {
    // where this cannot be written, the last, whole record will say so
    written = written.then(() => history.append(recordOfUnfinished(curve, about))).catch(() => undefined);
  }).catch(async (error: unknown) => {
    await written;
    // figures that cannot be are no measurement, but they are kept
    if (error instanceof UserError && error.reason === "badOutput") {
      await history.append({
        ...about,
        version: historyVersion,
        kind: "probe",
        ended: "failed",
        error: formatText(error.problem),
      });
    }
    throw error;
  });
  const report = dated(found);
  await written;
  await history.append(recordOfProbe(report, { ...about, at: Date.now() }));
  return report;
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
