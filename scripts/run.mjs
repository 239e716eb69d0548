// Child processes for the scripts: quiet unless they fail.
import { spawn } from "node:child_process";

/** What went wrong in words for whoever runs a script; anything else that is thrown is a bug and shows its stack. */
export class ScriptError extends Error {}

/**
 * Runs a program to its end and resolves to its standard output. Its output is shown only when it fails.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions & { timeoutMs?: number, what?: string }} [options]
 */
export function run(program, args, { timeoutMs = 600_000, what = program, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let out = "";
    let all = "";
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      out += text;
      all += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text) => (all += text));
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    // a script that is ended takes what it runs with it
    const endIt = () => child.kill();
    process.once("exit", endIt);
    child.once("close", () => process.removeListener("exit", endIt));
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(new ScriptError(`${what} could not be started: ${error.message}`));
    });
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(out);
      else
        reject(
          new ScriptError(`${what} failed (${signal ?? `exit code ${code}`})\n${all.slice(-4000).trimEnd()}`),
        );
    });
  });
}

/** Runs a script's main function; a ScriptError becomes one message and exit code 1. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    // esbuild has shown its own errors already
    if (!Array.isArray(error?.errors)) console.error(error instanceof ScriptError ? error.message : error);
    process.exitCode = 1;
  }
}
