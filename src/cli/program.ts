import { Command, CommanderError } from "commander";
import { UserError, type UserErrorReason } from "../core/userError";
import { endProgress, exitCode, printError, type ExitCode } from "./output";
import type { CliCommand } from "./command";
import { addCheck } from "./check";
import { addCount } from "./count";
import { addExplainLog } from "./explainLog";
import { addLadder } from "./ladder";
import { addLint } from "./lint";
import { addMaxContext, addMemory } from "./memory";
import { addModel } from "./model";
import { addPredict } from "./predict";
import { addProbe } from "./probe";
import { addTokenize } from "./tokenize";

const commands: readonly CliCommand[] = [
  addCount,
  addTokenize,
  addModel,
  addMemory,
  addMaxContext,
  addPredict,
  addCheck,
  addLint,
  addLadder,
  addExplainLog,
  addProbe,
];

const outside: ReadonlySet<UserErrorReason> = new Set([
  "refused",
  "timeout",
  "unauthorized",
  "loading",
  "badOutput",
  "outsideFailed",
]);

/** Runs one command; never throws. What follows `--` belongs to llama-server and is not parsed here. */
export async function run(argv: readonly string[], signal: AbortSignal): Promise<ExitCode> {
  const cut = argv.indexOf("--");
  const own = cut < 0 ? argv : argv.slice(0, cut);
  const serverArguments = cut < 0 ? [] : argv.slice(cut + 1);
  let code: ExitCode = exitCode.done;

  const program = new Command("llama-gauge")
    .description("Does it fit, does the machine hold it, how long will I wait: for llama.cpp.")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text) });
  for (const add of commands) {
    add(program, { signal, serverArguments, finish: (result) => (code = result) });
  }

  try {
    await program.parseAsync(own, { from: "user" });
    return code;
  } catch (error) {
    endProgress();
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.done : exitCode.badInput;
    if (error instanceof UserError) {
      printError(error.message);
      return outside.has(error.reason) ? exitCode.outsideFailed : exitCode.badInput;
    }
    if (signal.aborted) {
      printError("Cancelled.");
      return exitCode.outsideFailed;
    }
    printError(
      `This is a bug, please report it. ${error instanceof Error ? (error.stack ?? "") : String(error)}`,
    );
    return exitCode.outsideFailed;
  }
}
