import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { builtProduct } from "./product";
import { repository } from "./repository";

export interface CliRun {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the bundled `llama-gauge`, built from the sources on first use. */
export async function runCli(
  args: readonly string[],
  options: {
    readonly input?: string | Uint8Array;
    readonly env?: Record<string, string>;
    readonly cwd?: string;
  } = {},
): Promise<CliRun> {
  await builtProduct();
  const run = await execa(process.execPath, [path.join(repository, "dist/cli.js"), ...args], {
    reject: false,
    timeout: 120_000,
    maxBuffer: 64 * 2 ** 20,
    stripFinalNewline: false,
    input: options.input ?? "",
    env: { ...(await ownFolders()), ...options.env },
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  return { exitCode: run.exitCode, stdout: run.stdout, stderr: run.stderr };
}

let folders: Promise<Record<string, string>> | undefined;

/** What the command line measures is not kept among the measurements of whoever runs the tests. */
function ownFolders(): Promise<Record<string, string>> {
  folders ??= mkdtemp(path.join(os.tmpdir(), "gauge-cli-state-")).then((folder) => {
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    return { XDG_STATE_HOME: folder };
  });
  return folders;
}

/** The one JSON document a command prints. */
export async function cliJson(
  args: readonly string[],
  options: Parameters<typeof runCli>[1] = {},
): Promise<unknown> {
  const run = await runCli([...args.slice(0, 1), "--json", ...args.slice(1)], options);
  if (run.stdout === "") throw new Error(`llama-gauge ${args.join(" ")} said only: ${run.stderr}`);
  return JSON.parse(run.stdout) as unknown;
}
