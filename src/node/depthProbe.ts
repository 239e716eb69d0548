import { randomUUID } from "node:crypto";
import { speedFlags } from "../core/bench/benchArguments";
import { chooseCurve } from "../core/bench/curveChoice";
import { recordOfProbe } from "../core/bench/historyRecord";
import type { ProbeReport } from "../core/bench/probeReport";
import type { ServerFacts } from "../core/acceptance/serverFacts";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { DepthCurve } from "../core/prefill/depthCurve";
import type { HistoryStore } from "./historyStore";
import { runServerProbe, type ServerProbeRequest } from "./serverProbe";

/** Measures the running server and writes the result down, also where it was cut short. */
export async function probeAndRemember(
  request: ServerProbeRequest & { readonly launch: LaunchOptions },
  history: HistoryStore,
  signal: AbortSignal,
): Promise<ProbeReport> {
  const { launch, ...probe } = request;
  const report = await runServerProbe({ ...probe, flags: speedFlags(launch) }, signal);
  await history.append(recordOfProbe(report, { id: randomUUID(), at: Date.now(), tool: "llama-server" }));
  return report;
}

/** What was measured of this server with these flags, with the spread it has by now. */
export async function rememberedCurve(
  history: HistoryStore,
  facts: ServerFacts,
  launch: LaunchOptions,
  signal: AbortSignal,
): Promise<DepthCurve | undefined> {
  const { records } = await history.read(signal);
  return chooseCurve(records, {
    model: facts.model.path ?? facts.model.id,
    build: facts.build ?? "",
    flags: speedFlags(launch),
    now: Date.now(),
  })?.curve;
}
