import type { Readable } from "node:stream";
import { execa } from "execa";
import { asTree, guardTree } from "./processTree";

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

export type OnLine = (from: "stdout" | "stderr", line: string) => void;

const maxLineLength = 1_000_000;

/** `onLine` gets the lines of both channels as they come. */
export function startGuarded(program: string, args: readonly string[], onLine: OnLine): GuardedProcess {
  const subprocess = execa(program, args, {
    ...asTree,
    reject: false,
    buffer: false,
    stdin: "ignore",
    env: withoutLlamaArguments(),
    extendEnv: false,
  });
  const { pid } = subprocess;
  const tree = guardTree(pid);
  eachLine(subprocess.stdout, (line) => onLine("stdout", line));
  eachLine(subprocess.stderr, (line) => onLine("stderr", line));
  const ended = subprocess.then((result): ProcessEnd => {
    tree.over();
    return {
      ...(result.exitCode !== undefined && { exitCode: result.exitCode }),
      ...(result.signal !== undefined && { signal: result.signal }),
      ...(pid === undefined && { startError: result.code ?? "unknown" }),
    };
  });
  return { pid: pid ?? -1, ended, kill: tree.kill };
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

/** llama.cpp takes every LLAMA_ARG_… as an argument; the caller's arguments already hold what counts. */
function withoutLlamaArguments(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("LLAMA_ARG_")));
}
