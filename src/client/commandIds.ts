/** Every command of the extension; the manifest declares the same set. */
export const commandIds = [
  "llamaGauge.estimate",
  "llamaGauge.estimateWorkspace",
  "llamaGauge.estimateOpenEditors",
  "llamaGauge.estimateSelection",
  "llamaGauge.estimateGitChanges",
  "llamaGauge.refresh",
  "llamaGauge.cancel",
  "llamaGauge.showPanel",
  "llamaGauge.showMemoryBudget",
  "llamaGauge.chooseServer",
  "llamaGauge.chooseModel",
  "llamaGauge.setApiKey",
  "llamaGauge.startServer",
  "llamaGauge.runDepthProbe",
  "llamaGauge.dropToFit",
  "llamaGauge.includeAll",
  "llamaGauge.choosePackOrder",
  "llamaGauge.copyPackedPrompt",
  "llamaGauge.copyDiagnostics",
  "llamaGauge.showLog",
  "llamaGauge.explainLog",
  "llamaGauge.checkCommandLine",
] as const;

export type CommandId = (typeof commandIds)[number];
