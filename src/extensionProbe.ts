import type { ProbeTarget } from "./client/speed/probeSection";
import type { Probe } from "./client/speed/depthProbe";

/** The depth probe of a server whose options are known; what it finds is kept in the history. */
export function probeOf(
  { url, apiKey, launch }: ProbeTarget,
  { historyFolder, budgetSeconds }: { readonly historyFolder: string; readonly budgetSeconds: number },
): Probe {
  return async (callbacks, signal) => {
    const { HistoryStore } = await import("./app/historyStore");
    const { probeAndRemember } = await import("./app/probe");
    const { inheritedOptions } = await import("./node/machine/systemOptions");
    const options = { ...(await inheritedOptions()), ...launch };
    const request = {
      url,
      launch: options,
      budgetSeconds,
      ...callbacks,
      ...(apiKey !== undefined && { apiKey }),
    };
    return probeAndRemember(request, new HistoryStore(historyFolder), signal);
  };
}
