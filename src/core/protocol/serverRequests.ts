import type { LaunchOptions } from "../launch/launchOptions";
import type { ModelFacts } from "../launch/launchRules";
import type { Text } from "../text";

/** Language ids of this extension. */
export const presetLanguage = "llama-presets";
export const logLanguage = "llama-log";

/** What the language server is told when it starts. */
export interface ServerSettings {
  /** In an untrusted workspace no file is looked at. */
  readonly trusted: boolean;
  readonly locale: string;
  /** English template → the reader's language. */
  readonly translations: Readonly<Record<string, string>>;
}

/** What a section of a preset costs; figures where they are known. */
export interface SectionCost {
  readonly fits: boolean | null;
  /** One line: verdict and the main figures. */
  readonly verdict: Text;
  /** Behind `ctx-size`: what it means for one request, and what it costs. */
  readonly contextHint: Text;
  /** KV bytes per token, context per slot, memory per device, prefill estimate. */
  readonly lines: readonly Text[];
}

export interface SectionCostRequest {
  readonly section: string;
  readonly options: LaunchOptions;
  /** Absolute path of the model's file. */
  readonly modelPath: string;
}

/** Server → client: facts from a model's header; the client owns the readers. null: not known. */
export interface ModelFactsRequest {
  /** Absolute path. */
  readonly path: string;
}

export const requests = {
  modelFacts: "llamaGauge/modelFacts",
  sectionCost: "llamaGauge/sectionCost",
  /** Client → server notification: trust was granted, figures have changed. */
  refresh: "llamaGauge/refresh",
} as const;

export type ModelFactsAnswer = ModelFacts | null;
export type SectionCostAnswer = SectionCost | null;

/** Arguments of the commands behind code lenses. */
export interface SectionCommand {
  readonly uri: string;
  readonly section: string;
  /** llama-server's arguments, secrets masked. */
  readonly arguments: readonly string[];
}

export const lensCommands = {
  showBudget: "llamaGauge.showMemoryBudget",
  copyCommandLine: "llamaGauge.preset.copyCommandLine",
  startServer: "llamaGauge.startServer",
} as const;
