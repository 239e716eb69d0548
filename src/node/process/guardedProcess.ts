import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { execa } from "execa";

/** A started program whose whole tree ends with us, whatever ends us. */
export interface GuardedProcess {
  readonly pid: number;
  /** How it ended, after its last line; never fails. */
  readonly ended: Promise<ProcessEnd>;
  /** Ends it and everything it started. */
  kill(): void;
}

export interface ProcessEnd {
  readonly exitCode?: number;
  readonly signal?: string;
  /** Why it could not be started: `ENOENT`, `EACCES`, … */
  readonly startError?: string;
}

/** Waits for its input to end, which it does even when we are killed, and then ends the tree of the process. */
const guardScript = `
const pid = Number(process.argv[1]);
let done = false;
process.stdin.on("data", () => { done = true; });
process.stdin.on("end", () => {
  if (!done) {
    if (process.platform === "win32") require("child_process").spawnSync("taskkill", ["/PID", String(pid), "/T", "/F"]);
    else { try { process.kill(-pid, "SIGKILL"); } catch {} }
  }
  process.exit(0);
});
process.stdin.resume();`;

export type OnLine = (from: "stdout" | "stderr", line: string) => void;

const maxLineLength = 1_000_000;

/** `onLine` gets the lines of both channels as they come. */
export function startGuarded(program: string, args: readonly string[], onLine: OnLine): GuardedProcess {
  const subprocess = execa(program, args, {
    reject: false,
    buffer: false,
    stdin: "ignore",
    // a process group of its own: the group is what is killed
    detached: process.platform !== "win32",
    windowsHide: true,
    env: withoutLlamaArguments(),
    extendEnv: false,
  });
  const { pid } = subprocess;
  eachLine(subprocess.stdout, (line) => onLine("stdout", line));
  eachLine(subprocess.stderr, (line) => onLine("stderr", line));
  const guard = pid === undefined ? undefined : startGuard(pid);
  const ended = subprocess.then((result): ProcessEnd => {
    guard?.stdin.end("done");
    return {
      ...(result.exitCode !== undefined && { exitCode: result.exitCode }),
      ...(result.signal !== undefined && { signal: result.signal }),
      ...(pid === undefined && { startError: result.code ?? "unknown" }),
    };
  });
  return {
    pid: pid ?? -1,
    ended,
    kill: () => {
      killTree(pid);
    },
  };
}

function startGuard(pid: number): ChildProcessByStdio<Writable, null, null> {
  const guard = spawn(process.execPath, ["-e", guardScript, String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    windowsHide: true,
    env: { ...process.env, ELECTRON_RUN_AS_NODE: "1", NODE_OPTIONS: "" },
  });
  guard.on("error", () => undefined);
  guard.stdin.on("error", () => undefined);
  guard.unref();
  return guard;
}

/** Calls back with every line; a line longer than any of llama.cpp's is cut, whatever comes behind it is dropped. */
function eachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = (lines.pop() ?? "").slice(0, maxLineLength);
    for (const line of lines) onLine(line.slice(0, maxLineLength));
  });
  stream.on("end", () => {
    if (rest !== "") onLine(rest);
  });
  stream.on("error", () => undefined);
}

function killTree(pid: number | undefined): void {
  if (pid === undefined) return;
  if (process.platform === "win32") {
    void execa("taskkill", ["/PID", String(pid), "/T", "/F"], { reject: false, timeout: 10_000 });
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it has ended already
  }
}

/** llama.cpp takes every LLAMA_ARG_… as an argument; the caller's arguments already hold what counts. */
function withoutLlamaArguments(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("LLAMA_ARG_")));
}
