import type { ProbedServer } from "../../app/probe";
import type { ProbeReport } from "../../core/bench/probeReport";
import { runDepthProbe, type Probe } from "./depthProbe";
import type { ServerStarter } from "../servers/serverStarter";
import { requestOfLens } from "../servers/startServer";

/**
 * Measures prefill by depth with the options of a section: on its server where it was started here, else on one that is
 * started for it and ended afterwards. Undefined where the user thought better of it.
 */
export async function probeSection(
  starter: ServerStarter,
  argument: unknown,
  probeOf: (target: ProbedServer) => Probe,
): Promise<ProbeReport | undefined> {
  const request = await requestOfLens(argument);
  if (request === undefined) return undefined;
  const { parseArguments } = await import("../../core/launch/commandLine");
  const launch = parseArguments(request.arguments).options;
  const running = starter.serverOf(request.name);
  if (running === undefined && (await starter.start(request)) === undefined) return undefined;
  const server = running ?? starter.serverOf(request.name);
  if (server === undefined) return undefined;
  try {
    return await runDepthProbe(probeOf({ ...server, launch }));
  } finally {
    if (running === undefined) await starter.stop(request.name);
  }
}
