import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProgram, type RunningProgram } from "../../support/childProcess";
import { repository } from "../../support/repository";

/** What a stage sees on a machine whose user has servers, GPU tools, settings and a proxy of their own. */
interface Seen {
  readonly env: Readonly<Record<string, string>>;
  readonly home: readonly string[];
  readonly found: Readonly<Record<string, boolean>>;
  readonly portAnswers: boolean;
  readonly processes: string;
}

const marker = `llama-server-of-somebody-${process.pid}`;
let folder: string;
let foreign: RunningProgram;
let listening: Server;
let seen: Seen;
let said: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "lg-isolation-"));
  for (const name of ["nvidia-smi", "llama-server", "llama-bench", "own-tool"]) {
    await writeFile(path.join(folder, name), "#!/bin/sh\necho mine\n");
    await chmod(path.join(folder, name), 0o755);
  }
  await mkdir(path.join(folder, "home/.config"), { recursive: true });
  foreign = startProgram("/bin/sh", ["-c", `sleep 600; : ${marker}`]);
  listening = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  const address = listening.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const report = path.join(folder, "seen.json");
  const stage = path.join(folder, "stage.mjs");
  await writeFile(stage, looking(port, report));
  const runner = path.join(folder, "runner.mjs");
  const module = pathToFileURL(path.join(repository, "scripts/stages.mjs")).href;
  await writeFile(
    runner,
    `import { runStages } from ${JSON.stringify(module)};
     await runStages(${JSON.stringify(folder)}, { look: { program: [${JSON.stringify(stage)}], result: "exit" } });`,
  );
  const run = await execa(process.execPath, [runner], {
    timeout: 50_000,
    env: {
      HOME: path.join(folder, "home"),
      PATH: `${folder}${path.delimiter}${process.env["PATH"] ?? ""}`,
      LANG: "C",
      LC_ALL: "de_DE.UTF-8",
      HTTP_PROXY: "http://127.0.0.1:9",
      https_proxy: "http://127.0.0.1:9",
      LLAMA_ARG_CTX_SIZE: "512",
      LLAMA_API_KEY: "secret",
      GIT_DIR: folder,
      NODE_OPTIONS: "--no-warnings",
      VSCODE_IPC_HOOK_CLI: "/nowhere",
      XDG_CONFIG_HOME: path.join(folder, "home/.config"),
    },
  });
  said = run.stdout;
  seen = JSON.parse(await readFile(report, "utf8")) as Seen;
});
afterAll(async () => {
  await foreign.stop();
  await new Promise((resolve) => listening.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

/** A program that writes down what it sees. */
function looking(port: number, report: string): string {
  return `
    import { execFileSync } from "node:child_process";
    import { existsSync, readdirSync, writeFileSync } from "node:fs";
    import { connect } from "node:net";
    import os from "node:os";
    import path from "node:path";
    const folders = process.env.PATH.split(path.delimiter);
    const isFound = (name) => folders.some((folder) => existsSync(path.join(folder, name)));
    const names = ["nvidia-smi", "llama-server", "llama-bench", "own-tool", "node", "git"];
    const portAnswers = await new Promise((resolve) => {
      connect(${port}, "127.0.0.1").once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    writeFileSync(${JSON.stringify(report)}, JSON.stringify({
      env: process.env,
      home: readdirSync(os.homedir()),
      found: Object.fromEntries(names.map((name) => [name, isFound(name)])),
      portAnswers,
      processes: execFileSync("ps", ["-axo", "args"], { encoding: "utf8" }),
    }));
    process.exit(0);`;
}

describe("a stage of npm test", () => {
  it("has a home of its own, with nothing in it", () => {
    expect(seen.home).toEqual([]);
    expect(seen.env["HOME"]).not.toBe(path.join(folder, "home"));
  });

  it("knows nothing of the user's language, proxies, keys and settings", () => {
    const ofUser =
      /^(LC_\w+|\w*http_?proxy|https_proxy|LLAMA_(ARG|API)_\w+|GIT_DIR|NODE_OPTIONS|VSCODE_\w+|XDG_\w+)$/i;
    expect(Object.keys(seen.env).filter((name) => ofUser.test(name))).toEqual([]);
    expect(seen.env["LANG"]).toMatch(/UTF-8$/);
  });

  it("finds everything on the PATH but GPU tools and an installed llama.cpp", () => {
    expect(seen.found).toEqual({
      "nvidia-smi": false,
      "llama-server": false,
      "llama-bench": false,
      "own-tool": true,
      node: true,
      git: true,
    });
  });

  it("sees none of the machine's processes and ports, or the run says why it does", () => {
    const reason = /^The tests see this machine's processes and ports: .+/m.exec(said)?.[0];
    const apart = reason === undefined;
    expect([seen.portAnswers, seen.processes.includes(marker)]).toEqual([!apart, !apart]);
  });
});
