/** What `npm start` starts: a real llama-server with a small model, and VS Code on a copy of the sample workspace. */
import { randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { startProgram, type RunningProgram } from "./childProcess";
import { freePort, isFree } from "./freePort";
import { llamaCppFolder, startLlamaServer } from "./llamaCpp";
import { realModel } from "./realModels";
import { repository } from "./repository";
import { quietSettings } from "./vscodeHost/quietSettings";
import { startVscodeServer } from "./vscodeHost/vscodeServer";
import { workbenchUrl } from "./vscodeHost/workbenchUrl";

export interface DemoOptions {
  readonly window: DemoWindow;
  readonly say: (line: string) => void;
}

export type DemoWindow =
  /** `code` is a desktop VS Code's command line; the extension is loaded from the checkout. */
  | { readonly kind: "desktop"; readonly code: string }
  /** VS Code's server with the packaged extension, for any browser. */
  | { readonly kind: "browser"; readonly vsix: string };

export interface Demo {
  /** The user closed the desktop window, or something the demo needs has ended; with what to say about it. */
  readonly over: Promise<string>;
  /** Ends everything the demo has started and removes its folders. */
  stop(): Promise<void>;
}

const llamaServerPort = 9931;

/** Starts everything; a failure half way stops what was started. */
export async function startDemo({ window, say }: DemoOptions): Promise<Demo> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-demo-"));
  const cleanUp: (() => Promise<void>)[] = [
    () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
  ];
  const stop = async (): Promise<void> => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  };
  try {
    const workspace = path.join(folder, "harbour");
    await cp(path.join(repository, "test/fixtures/workspace"), workspace, { recursive: true });
    const { file: model, real } = await realModel("chat", say);
    const port = (await isFree(llamaServerPort)) ? llamaServerPort : await freePort();
    const llamaServer = await startLlamaServer({ model, port, args: ["-c", "16384", "-np", "2"] });
    cleanUp.push(() => llamaServer.stop());
    const serves = real ? path.basename(model) : "a small model with random weights and a real vocabulary";
    say(`llama-server: ${llamaServer.url}  (${serves})`);
    const settings = {
      ...quietSettings,
      "llamaGauge.server.url": llamaServer.url,
      "llamaGauge.llamaCppFolder": await llamaCppFolder(),
    };
    const started = { workspace, settings, folder, say };
    const vscode =
      window.kind === "browser"
        ? await startInBrowser(started, window.vsix)
        : await startOnDesktop(started, window.code);
    cleanUp.push(() => vscode.stop());
    return { over: Promise.race([vscode.over, endOf(llamaServer, "llama-server has ended.")]), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Started {
  readonly workspace: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** For profiles; removed at the end. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

async function startInBrowser({ workspace, settings, say }: Started, vsix: string): Promise<Demo> {
  const connectionToken = randomBytes(12).toString("hex");
  const server = await startVscodeServer({ host: "newest", vsix: [vsix], settings, connectionToken });
  const address = new URL(workbenchUrl(server.origin, { open: workspace }));
  address.searchParams.delete("payload");
  address.searchParams.set("tkn", connectionToken);
  say(`VS Code ${server.installation.version}, in any browser on this machine: ${address.href}`);
  return {
    over: endOf({ ended: () => (server.ended() ? 1 : undefined) }, "VS Code has ended."),
    stop: () => server.stop(),
  };
}

/** A window of its own profile, so that the user's settings and extensions stay as they are. */
async function startOnDesktop({ workspace, settings, folder, say }: Started, code: string): Promise<Demo> {
  const profile = path.join(folder, "profile");
  await mkdir(path.join(profile, "User"), { recursive: true });
  await writeFile(path.join(profile, "User/settings.json"), JSON.stringify(settings, undefined, 2));
  const program = startProgram(code, [
    ...["--new-window", "--wait", "--disable-workspace-trust", `--user-data-dir=${profile}`],
    ...[`--extensions-dir=${path.join(folder, "extensions")}`, `--extensionDevelopmentPath=${repository}`],
    workspace,
  ]);
  say(`VS Code: opened on ${workspace}`);
  return {
    over: endOf(program, "The VS Code window was closed."),
    stop: async () => {
      // VS Code's window is no member of the process group that its command line belongs to
      for (const pid of await descendants(program.pid)) tryKill(pid);
      await program.stop();
    },
  };
}

function endOf(program: Pick<RunningProgram, "ended">, why: string): Promise<string> {
  return new Promise((resolve) => {
    const watch = setInterval(() => {
      if (program.ended() === undefined) return;
      clearInterval(watch);
      resolve(why);
    }, 500);
    watch.unref();
  });
}

async function descendants(root: number): Promise<number[]> {
  const { stdout } = await execa("ps", ["-A", "-o", "pid=,ppid="], { reject: false, timeout: 10_000 });
  const parents = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const childrenOf = (pid: number): number[] =>
    parents.flatMap(([child, parent]) =>
      parent === pid && child !== undefined ? [child, ...childrenOf(child)] : [],
    );
  return childrenOf(root);
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // it has just ended
  }
}
