import { chmod, copyFile, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { startProgram, waitFor, type RunningProgram } from "./childProcess";
import { freePort } from "./freePort";
import { llamaCppFolder, startLlamaServer } from "./llamaCpp";

export interface RouterServer {
  readonly url: string;
  log(): string;
  stop(): Promise<void>;
}

/**
 * A llama-server without a model of its own, serving those of `modelsFolder`.
 *
 * A router starts the program it is itself, as the system names it, once for each model. Debian's llama.cpp runs through
 * its own loader, so the system names the loader. Therefore the router is started through a copy of the loader, and when
 * it runs a script that starts llama-server properly takes the copy's place.
 */
export async function startRouter(modelsFolder: string, args: readonly string[] = []): Promise<RouterServer> {
  const bin = await llamaCppFolder();
  const root = path.join(path.dirname(bin), "root");
  const all = ["--models-dir", modelsFolder, ...args];
  if (!existsSync(root)) return startLlamaServer({ args: all });

  const libraries = path.join(root, "usr/lib/x86_64-linux-gnu");
  const folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-router-"));
  const loader = path.join(folder, "llama-server");
  await copyFile(path.join(libraries, "ld-linux-x86-64.so.2"), loader);
  await chmod(loader, 0o755);
  // ggml looks for its backends beside the program that runs
  for (const name of await readdir(libraries)) {
    if (/^libggml-.*\.so$/.test(name)) await symlink(path.join(libraries, name), path.join(folder, name));
  }
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = startProgram(loader, [
    ...["--library-path", `${libraries}:${path.join(libraries, "llama")}`],
    ...["--argv0", "llama-server", path.join(root, "usr/bin/llama-server")],
    ...["--host", "127.0.0.1", "--port", String(port), "--offline", ...all],
  ]);
  const stop = (): Promise<void> =>
    program.stop().finally(() => rm(folder, { recursive: true, force: true }));
  await healthy(program, url).catch(async (cause: unknown) => {
    await stop();
    throw cause;
  });
  const script = path.join(folder, "script");
  await writeFile(script, `#!/bin/sh\nexec "${path.join(bin, "llama-server")}" "$@"\n`, { mode: 0o755 });
  await rename(script, loader);
  return { url, log: () => program.log(), stop };
}

function healthy(program: RunningProgram, url: string): Promise<true> {
  return waitFor(program, "a router", async () => {
    const response = await fetch(`${url}/health`).catch(() => undefined);
    await response?.arrayBuffer();
    return response?.status === 200 ? true : undefined;
  });
}
