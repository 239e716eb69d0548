import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startProgram, waitFor, type RunningProgram } from "../../support/childProcess";
import { isRunning } from "../../support/isRunning";
import { repository } from "../../support/repository";
import { launchBrowser } from "../../support/vscodeHost/browser";

let program: RunningProgram;
let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(os.tmpdir(), "lg-start-"))));
afterEach(async () => {
  await program.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(env: Readonly<Record<string, string>>): RunningProgram {
  const script = path.join(repository, "scripts/start.mjs");
  return startProgram(process.execPath, [script], { env: { ...process.env, ...env } });
}

async function printed(pattern: RegExp): Promise<string> {
  const said = (): Promise<string | undefined> => Promise.resolve(pattern.exec(program.log())?.[1]);
  return waitFor(program, String(pattern), said, { timeoutMs: 150_000 });
}

async function interrupt(): Promise<void> {
  process.kill(program.pid, "SIGINT");
  await expect.poll(() => program.ended(), { timeout: 20_000 }).toBe(0);
}

describe("npm start", { timeout: 300_000 }, () => {
  it("serves VS Code with the extension, the sample workspace and a real llama-server, and ends them all", async () => {
    program = start({ LLAMA_GAUGE_START_IN_BROWSER: "1" });
    const llamaServer = await printed(/llama-server: (http:\S+)/);
    const address = await printed(/VS Code .*: (http:\S+)/);
    const props = (await (await fetch(`${llamaServer}/props`)).json()) as Record<string, unknown>;
    expect(props["total_slots"]).toBe(2);

    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(90_000);
      await page.goto(address, { timeout: 120_000 });
      await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "README.md" }).waitFor();
      await page.locator('.statusbar-item[id^="llama-gauge.llama-gauge."]').first().waitFor();
      // nobody gets in without the token of the address
      const stranger = await (await browser.newContext()).newPage();
      expect((await stranger.goto(new URL(address).origin))?.status()).toBe(403);
    } finally {
      await browser.close();
    }

    await interrupt();
    await expect(fetch(`${llamaServer}/health`)).rejects.toThrow();
    await expect(fetch(address)).rejects.toThrow();
  });

  it("opens a desktop VS Code where there is one, and closes its window", async () => {
    const code = path.join(folder, "code");
    // like the real one: the window is a process of its own session, and --wait waits for it
    await writeFile(
      code,
      `#!/bin/sh\nprintf '%s\\n' "$@" > ${folder}/arguments\nsetsid --wait sh -c 'echo $$ > ${folder}/window; exec sleep 600'\n`,
    );
    await chmod(code, 0o755);
    program = start({
      PATH: `${folder}:${process.env["PATH"] ?? ""}`,
      DISPLAY: ":0",
      LLAMA_GAUGE_START_IN_BROWSER: "",
    });
    const workspace = await printed(/VS Code: opened on (\S+)/);
    const window = await waitFor(program, "the window", () =>
      readFile(path.join(folder, "window"), "utf8").then(
        (text) => Number(text) || undefined,
        () => undefined,
      ),
    );
    const args = (await readFile(`${folder}/arguments`, "utf8")).trim().split("\n");
    expect(args).toContain(`--extensionDevelopmentPath=${repository}`);
    expect(args.at(-1)).toBe(workspace);

    await interrupt();
    await expect.poll(() => isRunning(window)).toBe(false);
  });
});
