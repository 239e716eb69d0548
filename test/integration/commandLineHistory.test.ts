import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HistoryStore } from "../../src/app/historyStore";
import type { DepthCurve } from "../../src/core/prefill/depthCurve";
import { cliJson, runCli } from "../support/cli";
import { forgedModel } from "../support/forge/forgeModel";
import { llamaCppFolder, llamaProgram, startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { writeProgram } from "../support/program";

// What the command line remembers of the speed it measured, and whom it asks.
const { signal } = new AbortController();
let folder: string;
let model: string;
let server: LlamaServerProcess;
let text: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-cli-history-"));
  // slow enough for a probe to tell reading from the noise of a busy machine
  model = await forgedModel({ size: "slope" });
  server = await startLlamaServer({ model, args: ["-c", "8192", "-np", "1"] });
  text = path.join(folder, "text.md");
  await writeFile(text, "The tide is high enough between nine and eleven.\n".repeat(40));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Checked {
  readonly prefill: { readonly known: boolean; readonly seconds?: number };
  readonly curve?: DepthCurve;
  readonly of: object;
}
interface Probed {
  readonly curve: DepthCurve;
}

/** A user whose folders are these. */
const user = (name: string): { env: Record<string, string> } => ({
  env: { XDG_STATE_HOME: path.join(folder, name), LOCALAPPDATA: path.join(folder, name) },
});
const check = async (args: readonly string[], home = user("home")): Promise<Checked> =>
  (await cliJson(["check", text, ...args], home)) as Checked;
const measured = (curve: DepthCurve): object => ({ key: curve.key, points: curve.points });

describe("the command line's history", () => {
  it("keeps what was measured of a server, and checks of the same server predict from it", async () => {
    expect((await check(["--server", server.url])).prefill.known).toBe(false);
    const probed = (await cliJson(
      ["probe", "--server", server.url, "--budget", "10"],
      user("home"),
    )) as Probed;
    const checked = await check(["--server", server.url]);
    expect(checked.prefill).toMatchObject({ known: true, seconds: expect.any(Number) as unknown });
    expect(checked.curve && measured(checked.curve)).toEqual(measured(probed.curve));

    expect((await check(["--server", server.url, "--no-history"])).prefill.known).toBe(false);
    expect((await check(["--server", server.url], user("somebody else"))).prefill.known).toBe(false);
    const { records } = await new HistoryStore(path.join(folder, "home/llama-gauge")).read(signal);
    expect(records.map(({ kind, tool }) => [kind, tool])).toEqual([["probe", "llama-server"]]);
  });

  it("does so for llama-bench under the options it was given, wherever the model is named from", async () => {
    const bench = await llamaProgram("llama-bench");
    const at = { ...user("bench"), cwd: path.dirname(model) };
    const launch = ["-m", path.basename(model), "-c", "4096", "-ub", "256"];
    const probe = ["probe", "--bench", bench, "--budget", "30", "--depths", "0", "--", ...launch];
    await cliJson(probe, at);
    const options = (...more: string[]): string[] => ["--", "-m", model, "-c", "4096", ...more];
    expect((await check(options("-ub", "256"), at)).prefill.known).toBe(true);
    expect((await check(options("-ub", "512"), at)).prefill.known).toBe(false);
    expect((await check(["--no-history", ...options("-ub", "256")], at)).prefill.known).toBe(false);
  }, 180_000);

  it("can be another folder, such as the editor's, and nothing is written without one", async () => {
    const editors = path.join(folder, "editor");
    const probe = ["probe", "--server", server.url, "--budget", "10"];
    await cliJson([...probe, "--history", editors], user("nobody"));
    expect((await check(["--server", server.url, "--history", editors], user("nobody"))).prefill.known).toBe(
      true,
    );
    await cliJson([...probe, "--no-history"], user("nobody"));
    expect((await check(["--server", server.url], user("nobody"))).prefill.known).toBe(false);
  });
});

describe("a report of the command line", () => {
  it("says of which model, options, build and day it is", async () => {
    const { of } = await check(["--server", server.url]);
    expect(of).toMatchObject({
      model,
      options: { model, ctxSize: 8192, parallel: 1 },
      build: expect.stringMatching(/^b\d+/) as unknown,
      day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as unknown,
    });
  });
});

describe.skipIf(process.platform === "win32")("the llama.cpp that is asked", () => {
  it("is that of a folder which is named, else the one on PATH", async () => {
    const real = await llamaCppFolder();
    const broken = path.join(folder, "programs");
    for (const name of ["llama-fit-params", "llama-server"]) await writeProgram(broken, name, "exit 1");
    const env = { PATH: `${broken}${path.delimiter}${process.env["PATH"] ?? ""}` };
    const options = ["--", "-m", model, "-c", "2048"];
    expect(await cliJson(["memory", ...options], { env })).toMatchObject({ source: "computed" });
    const asked = await cliJson(["memory", "--llama-cpp", real, ...options], { env });
    expect(asked).toMatchObject({ source: "reported" });
    const nowhere = await runCli(["memory", "--llama-cpp", folder, ...options], { env });
    expect([nowhere.exitCode, nowhere.stdout]).toEqual([2, ""]);
    const { stdout } = await runCli(["check", "--help"]);
    expect(stdout).toContain("--llama-cpp <folder>");
  });
});
