import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";

/** A program that runs until it is stopped, with everything it said on both channels. */
export interface RunningProgram {
  readonly pid: number;
  /** Standard output and standard error so far, as they came (the last 4 MB). */
  log(): string;
  /** Exit code or signal, once it has ended by itself or was stopped. */
  ended(): number | NodeJS.Signals | undefined;
  /** Ends it and every process it started: SIGTERM, then SIGKILL after 2 s. Resolves when they are gone. */
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

const maxLog = 4 * 1024 * 1024;

/** Starts a program in a process group of its own; it also dies with the process that started it. */
export function startProgram(
  file: string,
  args: readonly string[],
  options: StartOptions = {},
): RunningProgram {
  // without it a killed test run would leave its servers behind (Linux only)
  const guard = existsSync("/usr/bin/setpriv") ? ["/usr/bin/setpriv", "--pdeathsig", "KILL"] : [];
  const [program = file, ...rest] = [...guard, file, ...args];
  const child = spawn(program, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    cwd: options.cwd,
    env: options.env ?? process.env,
  });
  let log = "";
  const keep = (text: string): void => void (log = (log + text).slice(-maxLog));
  child.stdout.setEncoding("utf8").on("data", keep);
  child.stderr.setEncoding("utf8").on("data", keep);
  const closed = new Promise<void>((resolve) => {
    child.once("close", () => {
      resolve();
    });
    child.once("error", (error) => {
      keep(`${error.message}\n`);
      resolve();
    });
  });
  const killAtExit = (): void => void signalGroup(child, "SIGKILL");
  process.once("exit", killAtExit);
  void closed.then(() => process.removeListener("exit", killAtExit));
  return {
    pid: child.pid ?? -1,
    log: () => log,
    ended: () => child.exitCode ?? child.signalCode ?? undefined,
    stop: () => stopGroup(child, closed),
  };
}

async function stopGroup(child: ChildProcess, closed: Promise<void>): Promise<void> {
  const patience = setTimeout(() => signalGroup(child, "SIGKILL"), 2000);
  signalGroup(child, "SIGTERM");
  await closed;
  clearTimeout(patience);
  signalGroup(child, "SIGKILL");
}

/** False when the whole group is gone. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): boolean {
  if (child.pid === undefined) return false;
  try {
    process.kill(-child.pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Waits until `check` gives a value; fails with the program's log when the program ends or the time is up. */
export async function waitFor<T>(
  program: RunningProgram,
  what: string,
  check: () => Promise<T | undefined>,
  {
    timeoutMs = 60_000,
    signal,
  }: { readonly timeoutMs?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const value = await check();
    if (value !== undefined) return value;
    const problem =
      program.ended() !== undefined ? `ended (${String(program.ended())})` : `took more than ${timeoutMs} ms`;
    if (program.ended() !== undefined || Date.now() > end) {
      await program.stop();
      throw new Error(`waiting for ${what}: it ${problem}\n${program.log().slice(-6000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
