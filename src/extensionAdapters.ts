import type { Outside } from "./client/commandTable";
import type { Estimator } from "./client/estimate/estimator";
import type { WhatIfOutside } from "./client/panel/whatIfDesk";
import type { Disposable } from "./client/editor/lifecycle";
import { Estimates, type EstimatesOptions } from "./extensionEstimates";
import { probeOf } from "./extensionProbe";
import { discoverServers, lockedServer, offeredModels, serverOptions } from "./extensionServers";

/** The extension's ways to the outside. What is behind them is loaded at its first use. */
export function extensionAdapters(options: EstimatesOptions): Disposable & {
  readonly estimator: Estimator;
  readonly outside: Outside;
  readonly surroundings: Estimates["surroundings"];
  /** The same as it was for the last report. */
  readonly lastParts: () => Estimates["lastParts"];
  readonly whatIf: WhatIfOutside;
} {
  const { settings, keys, nearby } = options;
  const estimates = new Estimates(options);
  return {
    estimator: estimates.estimator,
    outside: {
      discoverServers: (signal) => discoverServers(settings.value, nearby, signal),
      findModels: async (signal) => {
        const { findModels } = await import("./node/gguf/modelFinder");
        return findModels({ folders: settings.value.modelFolders }, signal);
      },
      packPrompt: (request, signal) => estimates.packPrompt(request, signal),
      countText: (text, signal) => estimates.countText(text, signal),
      changedFiles: async (folder, scope, signal) => {
        const { changedFiles } = await import("./node/files/gitChanges");
        return changedFiles(folder, scope, signal);
      },
      changesAsDiff: async (folder, scope, signal) => {
        const { changesAsDiff } = await import("./node/files/gitChanges");
        return changesAsDiff(folder, scope, signal);
      },
      probe: (callbacks, signal) => estimates.probe(callbacks, signal),
      probeOf: (target) =>
        probeOf(target, { historyFolder: options.cacheFolder, budgetSeconds: settings.value.probeSeconds }),
      lockedServer: async (signal) => lockedServer(await serverOptions(settings.value, keys, nearby), signal),
      offeredModels: (url, signal) => offeredModels(url, keys, signal),
      now: Date.now,
    },
    whatIf: {
      judge: (report, change) => estimates.whatIf(report, change),
      table: (change) => Promise.resolve(estimates.contextTable(change)),
      modelPath: () => estimates.modelPath,
    },
    surroundings: (signal) => estimates.surroundings(signal),
    lastParts: () => estimates.lastParts,
    dispose: () => estimates.dispose(),
  };
}
