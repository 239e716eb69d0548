import { execa } from "execa";

export interface ToolLimits {
  readonly milliseconds: number;
  /** Of its output. */
  readonly maxBytes?: number;
  /** In place of ours. */
  readonly environment?: NodeJS.ProcessEnv;
}

export interface ToolRun {
  readonly stdout: string;
  readonly stderr: string;
  /** undefined where it did not start or did not end by itself. */
  readonly exitCode?: number | undefined;
  /** The system's, e.g. ENOENT. */
  readonly code?: string | undefined;
  readonly timedOut: boolean;
}

/** Runs a short-lived program that only reads, to its end or a limit. @throws the signal's reason, and nothing else */
export async function runTool(
  program: string,
  args: readonly string[],
  { milliseconds, maxBytes = 2 ** 20, environment }: ToolLimits,
  signal: AbortSignal,
): Promise<ToolRun> {
  const run = await execa(program, args, {
    reject: false,
    timeout: milliseconds,
    maxBuffer: maxBytes,
    cancelSignal: signal,
    forceKillAfterDelay: 1000,
    stdin: "ignore",
    windowsHide: true,
    ...(environment !== undefined && { env: environment, extendEnv: false }),
  });
  signal.throwIfAborted();
  return run;
}
