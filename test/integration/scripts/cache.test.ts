import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startProgram, waitFor } from "../../support/childProcess";
import { repository } from "../../support/repository";

let folder: string;
let cache: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "lg-cache-"));
  cache = path.join(folder, "cache");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const entries = (): Promise<string[]> => readdir(cache).catch(() => []);

interface Ended {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

async function runNode(file: string, env: Readonly<Record<string, string>>): Promise<Ended> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [file], {
    cwd: repository,
    env,
    reject: false,
    timeout: 60_000,
  });
  return { exitCode, stdout, stderr };
}

/** A program that asks for the cached folder `thing` and fills it with `fill`, the body of a function of its folder. */
async function filler(fill: string): Promise<string> {
  const file = path.join(folder, "fill.mjs");
  const module = pathToFileURL(path.join(repository, "scripts/cache.mjs")).href;
  await writeFile(
    file,
    `import { writeFileSync } from "node:fs";
     import { cachedFolder } from ${JSON.stringify(module)};
     console.log(await cachedFolder("thing", async (folder) => { ${fill} }));`,
  );
  return file;
}

describe("the project's cache", () => {
  const run = (file: string): Promise<Ended> => runNode(file, { LLAMA_GAUGE_CACHE: cache });

  it("fills a folder once", async () => {
    const first = await run(await filler('writeFileSync(folder + "/a", "1");'));
    const second = await run(await filler("throw new Error('again');"));
    expect(second.stdout).toBe(first.stdout);
    expect((await readdir(path.join(cache, "thing"))).sort()).toEqual([".complete", "a"]);
  });

  it("keeps nothing of a filling that failed", async () => {
    const { exitCode } = await run(
      await filler('writeFileSync(folder + "/a", "1"); throw new Error("no network");'),
    );
    expect(exitCode).toBe(1);
    expect(await entries()).toEqual([]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("keeps nothing of a filling that %s ended", async (signal) => {
    const file = await filler(
      'console.log("filling"); await new Promise((resolve) => setTimeout(resolve, 60000));',
    );
    const program = startProgram(process.execPath, [file], {
      env: { ...process.env, LLAMA_GAUGE_CACHE: cache },
    });
    const filling = (): Promise<true | undefined> =>
      Promise.resolve(program.log().includes("filling") || undefined);
    await waitFor(program, "filling", filling);
    process.kill(program.pid, signal);
    await expect.poll(() => program.ended(), { timeout: 10_000 }).toBe(130);
    expect(await entries()).toEqual([]);
  });

  it("is not fooled by what a killed filling has left", async () => {
    await run(await filler('writeFileSync(folder + "/half", "1"); process.kill(process.pid, "SIGKILL");'));
    expect(await entries()).toHaveLength(1);
    const { exitCode } = await run(await filler('writeFileSync(folder + "/whole", "1");'));
    expect(exitCode).toBe(0);
    expect((await readdir(path.join(cache, "thing"))).sort()).toEqual([".complete", "whole"]);
  });

  it("serves two that fill it at once", async () => {
    const file = await filler(
      'await new Promise((resolve) => setTimeout(resolve, 500)); writeFileSync(folder + "/a", "1");',
    );
    const both = await Promise.all([run(file), run(file)]);
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(await entries()).toEqual(["thing"]);
  });
});

describe("finding llama.cpp", () => {
  const find = (env: Readonly<Record<string, string>>): Promise<Ended> =>
    runNode("scripts/llamaCpp.mjs", { LLAMA_CPP_DIR: "", LLAMA_GAUGE_CACHE: cache, ...env });

  it("says what a named folder lacks", async () => {
    const { exitCode, stderr, stdout } = await find({ LLAMA_CPP_DIR: folder });
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("llama-server, llama-bench, llama-fit-params, llama-tokenize");
  });

  it("says what to do where there is no Debian", async () => {
    const { exitCode, stderr } = await find({ PATH: folder });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^No llama\.cpp found.* LLAMA_CPP_DIR/s);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it("says so when there is no network, and leaves nothing behind", async () => {
    const nowhere = "http://127.0.0.1:9";
    const { exitCode, stderr } = await find({ http_proxy: nowhere, https_proxy: nowhere });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/could not be fetched\. Install llama\.cpp yourself/);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(await entries()).toEqual([]);
  });
});
