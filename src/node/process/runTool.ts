import { execa } from "execa";
import { TimeLimitError } from "../waiting/within";
import { withLimit } from "../waiting/withLimit";
import { asTree, guardTree } from "./processTree";

export interface ToolLimits {
  readonly milliseconds: number;
  /** Of its output. */
  readonly maxBytes?: number;
  /** In place of ours. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Where it runs; by default where we do. */
  readonly folder?: string;
  /** With the line end at the end of its output. */
  readonly verbatim?: true;
}

export interface ToolRun {
  readonly stdout: string;
  readonly stderr: string;
  /** undefined where it did not start or did not end by itself. */
  readonly exitCode?: number | undefined;
  /** The system's, e.g. ENOENT. */
  readonly code?: string | undefined;
  readonly timedOut: boolean;
  /** It wrote more than `maxBytes`. */
  readonly tooMuch: boolean;
}

/**
 * Runs a short-lived program that only reads, to its end or a limit. With a limit, an abort or our own end everything that
 * it started ends, too; nothing that holds on to its output is waited for. @throws the signal's reason, and nothing else
 */
export async function runTool(
  program: string,
  args: readonly string[],
  { milliseconds, maxBytes = 2 ** 20, environment, folder, verbatim }: ToolLimits,
  signal: AbortSignal,
): Promise<ToolRun> {
  signal.throwIfAborted();
  const subprocess = execa(program, args, {
    ...asTree,
    reject: false,
    maxBuffer: maxBytes,
    stdin: "ignore",
    stripFinalNewline: verbatim !== true,
    ...(environment !== undefined && { env: environment, extendEnv: false }),
    ...(folder !== undefined && { cwd: folder }),
  });
  const tree = guardTree(subprocess.pid);
  try {
    const run = await withLimit(signal, milliseconds, async () => subprocess);
    if (run.isMaxBuffer) tree.kill();
    else tree.over();
    const { stdout, stderr, exitCode, code } = run;
    return { stdout, stderr, exitCode, code, timedOut: false, tooMuch: run.isMaxBuffer };
  } catch (cause) {
    tree.kill();
    // one that left the group may still hold them
    subprocess.stdout.destroy();
    subprocess.stderr.destroy();
    if (cause instanceof TimeLimitError) return { stdout: "", stderr: "", timedOut: true, tooMuch: false };
    throw cause;
  }
}
