import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { startProgram, waitFor } from "../childProcess";
import { hostInstallation, type HostInstallation, type HostName } from "./installation";
import { writeProfileSettings } from "./profileSettings";
import { quietSettings } from "./quietSettings";

export interface VscodeServerOptions {
  readonly host: HostName;
  /** Packaged extensions to install first. */
  readonly vsix?: readonly string[];
  /** User settings on top of the quiet ones. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Restricted mode for folders nobody trusted yet; otherwise every folder is trusted. */
  readonly workspaceTrust?: boolean;
  /**
   * Needed to run an extension or its tests from a source folder; VS Code then shows no notification toasts.
   * Leave it off to drive an installed extension.
   */
  readonly sourceExtensions?: boolean;
  readonly userDataDir?: string;
  readonly extensionsDir?: string;
  /** Display language, if the profile has a language pack for it. */
  readonly locale?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What a browser must know to be let in (`tkn` in the address); left out: everybody on this machine is. */
  readonly connectionToken?: string;
}

export interface VscodeServer {
  readonly pid: number;
  readonly origin: string;
  readonly installation: HostInstallation;
  readonly userDataDir: string;
  log(): string;
  /** How each extension host that has ended so far did: true when normally. */
  extensionHostEnds(): readonly boolean[];
  ended(): boolean;
  /** Ends the server with its extension hosts, and removes its profile. */
  stop(): Promise<void>;
}

/** Starts a VS Code server with a fresh profile on a free loopback port. */
export async function startVscodeServer(options: VscodeServerOptions): Promise<VscodeServer> {
  const installation = await hostInstallation(options.host);
  // short, because the paths of the sockets in it are limited to about 100 characters
  const folder = await mkdtemp(path.join(os.tmpdir(), "lg-vscode-"));
  const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 10 });
  const userDataDir = options.userDataDir ?? path.join(folder, "user-data");
  const extensionsDir = options.extensionsDir ?? path.join(folder, "extensions");
  const folders = ["--extensions-dir", extensionsDir, "--server-data-dir", path.join(folder, "server")];
  try {
    await writeProfileSettings(userDataDir, {
      ...quietSettings,
      "security.workspace.trust.enabled": options.workspaceTrust === true,
      ...options.settings,
    });
    for (const file of options.vsix ?? []) await installExtension(installation, folders, file);
    const program = startProgram(
      installation.node,
      [
        ...[installation.main, "--host", "127.0.0.1", "--port", "0"],
        ...(options.connectionToken === undefined
          ? ["--without-connection-token"]
          : ["--connection-token", options.connectionToken]),
        ...["--accept-server-license-terms", "--user-data-dir", userDataDir],
        ...["--telemetry-level", "off", "--disable-telemetry", "--disable-experiments"],
        "--disable-getting-started-override",
        ...(options.workspaceTrust === true ? [] : ["--disable-workspace-trust"]),
        // without it a built workbench ignores extensionDevelopmentPath and extensionTestsPath
        ...(options.sourceExtensions === true ? ["--enable-smoke-test-driver"] : []),
        ...(options.locale === undefined ? [] : ["--locale", options.locale]),
        ...folders,
      ],
      { env: { ...process.env, EXTENSIONS_GALLERY: "{}", TMPDIR: folder, ...options.env } },
    );
    const port = await waitFor(
      program,
      "VS Code's server",
      () => Promise.resolve(/Extension host agent listening on (\d+)/.exec(program.log())?.[1]),
      { timeoutMs: 120_000 },
    );
    return {
      pid: program.pid,
      origin: `http://127.0.0.1:${port}`,
      installation,
      userDataDir,
      log: () => program.log(),
      extensionHostEnds: () => extensionHostEnds(program.log()),
      ended: () => program.ended() !== undefined,
      stop: async () => {
        await program.stop();
        await removeFolder();
      },
    };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function installExtension(
  { node, main }: HostInstallation,
  folders: readonly string[],
  file: string,
): Promise<void> {
  const args = [main, ...folders, "--accept-server-license-terms", "--install-extension", file];
  await execa(node, args, { timeout: 120_000, env: { EXTENSIONS_GALLERY: "{}" }, all: true });
}

function extensionHostEnds(log: string): readonly boolean[] {
  const ends = log.matchAll(/Extension Host Process exited with code: (\w+), signal: (\w+)/g);
  return Array.from(ends, ([, code, signal]) => code === "0" && signal === "null");
}
