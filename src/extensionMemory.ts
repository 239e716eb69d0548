import { window, workspace } from "vscode";
import type { Gauge } from "./client/estimate/gauge";
import type { WatchMemory } from "./client/panel/livePanel";
import { MemoryLook } from "./client/panel/memoryLook";

/** Measures this machine's memory until it is disposed. */
export const watchMemory: WatchMemory = async (serverUrl, show) => {
  const node = await import("./node/machine/watchMemory");
  const watch = node.watchMemory(serverUrl === undefined ? {} : { serverUrl }, show);
  return { dispose: () => watch.stop() };
};

/** Single looks at it, for what shows a moment. */
export function memoryLook(gauge: Gauge): MemoryLook {
  return new MemoryLook({
    gauge,
    look: async (serverUrl, signal) => {
      const { lookAtMemory } = await import("./node/machine/watchMemory");
      return lookAtMemory(serverUrl === undefined ? {} : { serverUrl }, signal);
    },
    isSeen: () => window.state.focused && workspace.isTrusted,
    now: Date.now,
  });
}
