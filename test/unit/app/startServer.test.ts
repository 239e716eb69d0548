import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ServerStart } from "../../../src/app/startServer";
import type { Settings } from "../../../src/app/settings";
import { writeProgram } from "../../support/program";
import { sampleSettings } from "../../support/sampleSettings";
import { startTcpStub } from "../../support/stubServer";

const { signal } = new AbortController();
let folder: string;
let pathBefore: string | undefined;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "start-server-"));
  pathBefore = process.env["PATH"];
});
afterEach(async () => {
  process.env["PATH"] = pathBefore;
  await rm(folder, { recursive: true, force: true });
});

const start = (settings: Partial<Settings> = {}): ServerStart =>
  new ServerStart({
    logFolder: path.join(folder, "logs"),
    settings: () => sampleSettings({ llamaCppFolder: path.join(folder, "bin"), ...settings }),
  });
const installed = (): Promise<string> => writeProgram(path.join(folder, "bin"), "llama-server", "exit 0");

describe.skipIf(process.platform === "win32")("starting a server", () => {
  it("takes the chosen model, a free port and a log of its own for each start", async () => {
    const program = await installed();
    const its = start({ model: "/models/m.gguf" });
    const first = await its.prepare(["-c", "4096", "--api-key", "sesame"], signal);
    expect(first.program).toBe(program);
    const { plan } = first;
    expect(plan.arguments.join(" ")).toMatch(/^-c 4096 --model \/models\/m\.gguf --port \d+ --log-file \S+$/);
    expect(plan).toMatchObject({ apiKey: "sesame", secrets: { LLAMA_API_KEY: "sesame" } });
    const second = await its.prepare([], signal);
    expect(second.plan.logFile).not.toBe(plan.logFile);
    // the log of an earlier window's server is not taken for this one's
    await writeFile(plan.logFile, "an older one");
    const again = await start({ model: "/models/m.gguf" }).prepare([], signal);
    expect(again.plan.logFile).toBe(plan.logFile);
    await expect(readFile(plan.logFile)).rejects.toThrow(/ENOENT/);
  });

  it("does not begin without a model, and a remote one is not a file it can load", async () => {
    await installed();
    await expect(start().prepare([], signal)).rejects.toThrow(/No model is specified/);
    const remote = start({ model: "https://example.org/m.gguf" });
    await expect(remote.prepare([], signal)).rejects.toThrow(/No model is specified/);
  });

  it.each([
    [{}, /llama-server was not found in .*bin.*Correct llamaGauge\.llamaCppFolder/],
    [{ llamaCppFolder: "" }, /llama-server was not found on PATH.*Set the folder/],
  ])("does not begin without the program (%j)", async (settings, message) => {
    process.env["PATH"] = path.join(folder, "empty");
    await expect(start(settings).prepare(["-m", "x"], signal)).rejects.toThrow(message);
  });

  it("does not begin where somebody listens already", async () => {
    await installed();
    const stub = await startTcpStub(() => undefined);
    try {
      await expect(start().prepare(["-m", "x", "--port", String(stub.port)], signal)).rejects.toThrow(
        `Something is already listening at ${stub.url}.`,
      );
    } finally {
      await stub.close();
    }
  });

  it("explains an early end by the log, and without one by the exit code", async () => {
    await installed();
    const its = start({ model: "/m" });
    const { plan } = await its.prepare([], signal);
    const silent = await its.failure("llama-server", plan, 7);
    expect(silent.message).toMatch(/exited with code 7/);
    // src/llama-model-loader.cpp and common/common.cpp of b11669
    await writeFile(
      plan.logFile,
      "0.00.100.000 E llama_model_load: error loading model: failed to open GGUF file '/m' (No such file or directory)\n",
    );
    expect((await its.failure("llama-server", plan, 1)).message).not.toMatch(/exited with code/);
  });
});
