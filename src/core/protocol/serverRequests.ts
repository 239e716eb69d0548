import type { LaunchOptions } from "../launch/launchOptions";
import type { ModelFacts } from "../launch/launchRules";
import type { SectionCost } from "../preset/sectionCost";

/** Language ids of this extension. */
export const presetLanguage = "llama-presets";
export const logLanguage = "llama-log";

/** What the language server is told when it starts. */
export interface ServerSettings {
  /** In an untrusted workspace no file is looked at. */
  readonly trusted: boolean;
  readonly locale: string;
  /** Address below which each code of a finding is a page. */
  readonly documentation?: string;
  /** English template → the reader's language. */
  readonly translations: Readonly<Record<string, string>>;
}

export interface SectionCostRequest {
  readonly section: string;
  readonly options: LaunchOptions;
  /** Absolute path of the model's file. */
  readonly modelPath: string;
}

/** Server → client: which file of llama.cpp's cache `-hf` would take. null: none, or not certain which. */
export interface CachedModelRequest {
  readonly hfRepo: string;
  readonly hfFile?: string;
}

/** Server → client: facts from a model's header; the client owns the readers. null: not known. */
export interface ModelFactsRequest {
  /** Absolute path. */
  readonly path: string;
}

export const requests = {
  modelFacts: "llamaGauge/modelFacts",
  sectionCost: "llamaGauge/sectionCost",
  cachedModel: "llamaGauge/cachedModel",
  /** What `-hf` can be given without a download: a list of "owner/name:Q8_0". */
  repositories: "llamaGauge/repositories",
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
  /** Of a command line in a script: where it begins in the text. */
  readonly at?: number;
  /** What it costs, where that is known by now. */
  readonly cost?: SectionCost;
}

/** Whether a command was called by a code lens of ours: menus and keybindings hand over other things. */
export function isSectionCommand(argument: unknown): argument is SectionCommand {
  return typeof argument === "object" && argument !== null && "section" in argument && "uri" in argument;
}

export const lensCommands = {
  showBudget: "llamaGauge.preset.showBudget",
  copyCommandLine: "llamaGauge.preset.copyCommandLine",
  startServer: "llamaGauge.startServer",
  probe: "llamaGauge.runDepthProbe",
  checkCommandLine: "llamaGauge.checkCommandLine",
} as const;
