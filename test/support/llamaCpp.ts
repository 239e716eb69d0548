import { existsSync } from "node:fs";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { startProgram, waitFor, type RunningProgram } from "./childProcess";
import { freePort } from "./freePort";
import { repository } from "./repository";

export type LlamaProgram =
  | "llama-server"
  | "llama-bench"
  | "llama-fit-params"
  | "llama-tokenize"
  | "llama-gguf-split"
  | "llama-quantize"
  | "ggml-rpc-server"
  | "test-llama-archs";

let folder: Promise<string> | undefined;

/** The folder with the executables of a real llama.cpp, fetched on first use (see scripts/llamaCpp.mjs). */
export function llamaCppFolder(): Promise<string> {
  folder ??=
    foundByNpmTest() ??
    execa(process.execPath, [path.join(repository, "scripts/llamaCpp.mjs")], {
      timeout: 600_000,
      // in VS Code's extension host the executable may be Electron
      env: { ELECTRON_RUN_AS_NODE: "1" },
    }).then((result) => result.stdout.trim());
  return folder;
}

/** `npm test` names the folder itself; whoever sets the variable may name the one above it. */
function foundByNpmTest(): Promise<string> | undefined {
  const named = process.env["LLAMA_CPP_DIR"] ?? "";
  return existsSync(path.join(named, "llama-server")) && path.isAbsolute(named)
    ? Promise.resolve(named)
    : undefined;
}

export async function llamaProgram(name: LlamaProgram): Promise<string> {
  return path.join(await llamaCppFolder(), name);
}

export interface RunResult {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of llama.cpp's programs to its end; a bad exit code is a result, not an error. */
export async function runLlamaProgram(
  name: LlamaProgram,
  args: readonly string[],
  options: { readonly timeoutMs?: number; readonly signal?: AbortSignal; readonly input?: string } = {},
): Promise<RunResult> {
  const result = await execa(await llamaProgram(name), args, {
    reject: false,
    timeout: options.timeoutMs ?? 120_000,
    stripFinalNewline: false,
    // some options name files to write
    cwd: os.tmpdir(),
    env: cleanEnvironment(),
    extendEnv: false,
    ...(options.signal && { cancelSignal: options.signal }),
    ...(options.input === undefined ? { stdin: "ignore" } : { input: options.input }),
  });
  if (result.timedOut) throw new Error(`${name} took too long\n${result.stderr.slice(-4000)}`);
  options.signal?.throwIfAborted();
  return { exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr };
}

export interface LlamaServerProcess extends RunningProgram {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
}

export interface LlamaServerOptions {
  /** A GGUF file. Left out: the server runs as a router (`--models-dir`, `--models-preset` in `args`). */
  readonly model?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly port?: number;
  /** `healthy` (default): the model is loaded. `listening`: it answers HTTP, perhaps with 503. */
  readonly until?: "healthy" | "listening";
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Starts a real `llama-server` on a free loopback port. A server that does not come up fails with its log. */
export async function startLlamaServer(options: LlamaServerOptions): Promise<LlamaServerProcess> {
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const args = [
    ...["--host", "127.0.0.1", "--port", String(port), "--offline"],
    ...(options.model === undefined ? [] : ["-m", options.model]),
    ...(options.args ?? []),
  ];
  const program = startProgram(await llamaProgram("llama-server"), args, {
    env: { ...cleanEnvironment(), ...options.env },
  });
  const accepts =
    options.until === "listening" ? (): boolean => true : (status: number): boolean => status === 200;
  await waitFor(
    program,
    `llama-server ${args.join(" ")}`,
    async () => {
      const status = await healthStatus(url);
      return status !== undefined && accepts(status) ? status : undefined;
    },
    { timeoutMs: options.timeoutMs ?? 60_000, signal: options.signal },
  ).catch(async (error: unknown) => {
    await program.stop();
    throw error;
  });
  return { ...program, url, port };
}

async function healthStatus(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

export interface RpcServerProcess extends RunningProgram {
  /** `127.0.0.1:PORT`, for llama.cpp's `--rpc`. */
  readonly endpoint: string;
}

/** Starts a `ggml-rpc-server`: to llama.cpp it is one more device, on any machine. */
export async function startRpcServer(
  options: { readonly args?: readonly string[]; readonly signal?: AbortSignal } = {},
): Promise<RpcServerProcess> {
  const port = await freePort();
  const args = ["-H", "127.0.0.1", "-p", String(port), ...(options.args ?? [])];
  const program = startProgram(await llamaProgram("ggml-rpc-server"), args, { env: cleanEnvironment() });
  await waitFor(program, "ggml-rpc-server", async () => ((await accepts(port)) ? true : undefined), {
    timeoutMs: 30_000,
    signal: options.signal,
  });
  return { ...program, endpoint: `127.0.0.1:${port}` };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => {
      resolve(false);
    });
  });
}

/** The environment without the variables that llama.cpp would take as arguments. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("LLAMA_ARG_")));
}
