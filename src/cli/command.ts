import type { Command } from "commander";
import type { ExitCode } from "./output";

export interface CliContext {
  readonly signal: AbortSignal;
  /** What followed `--`: llama-server's own arguments. */
  readonly serverArguments: readonly string[];
  /** The command's exit code where it is not 0. */
  finish(code: ExitCode): void;
}

/** Adds one command of `llama-gauge` to the program. */
export type CliCommand = (program: Command, context: CliContext) => void;
