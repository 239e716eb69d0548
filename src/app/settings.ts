import type { PackTemplate } from "../core/tokens/pack";

/** The user's settings under `llamaGauge`, and the two of VS Code's that decide which files count. */
export interface Settings {
  /** Empty: look for a server on this machine. */
  readonly serverUrl: string;
  /** Which of the server's models, where it has several; empty: the one that is loaded. */
  readonly serverModel: string;
  /** Path of a log to read requests from; empty: that of the server in use. */
  readonly serverLog: string;
  /** Empty: PATH. */
  readonly llamaCppFolder: string;
  /** Path or http(s) address of a GGUF; empty: none chosen. */
  readonly model: string;
  readonly modelFolders: readonly string[];
  /** A llama-server command line without the program. */
  readonly serverArguments: string;
  readonly answerReserveTokens: number;
  /** How long the first token may take before "fits" becomes "slow"; 0: any time. */
  readonly patienceSeconds: number;
  /** Memory to keep free on every device; undefined: as llama-server's `-fit` does. */
  readonly marginBytes: number | undefined;
  /** How long a depth probe may take. */
  readonly probeSeconds: number;
  readonly exclude: readonly string[];
  readonly useIgnoreFiles: boolean;
  readonly followLinks: boolean;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  readonly packTemplate: PackTemplate["format"];
  readonly packOrder: PackTemplate["order"];
  readonly showPanelOnEstimate: boolean;
  /** Globs of `files.exclude` that are switched on. */
  readonly filesExclude: readonly string[];
}
