import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { launchOptions, launchWith, typedArguments } from "../../../src/app/launchArguments";
import type { LaunchProblem } from "../../../src/core/launch/commandLine";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-launch-"));
  await mkdir(path.join(folder, "llama.cpp"));
  const settings = "ctx-size = 1024\nubatch-size = 64\nparallel = 3\n";
  await writeFile(path.join(folder, "llama.cpp/config.ini"), `[*]\n${settings}`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => void vi.unstubAllEnvs());

describe.skipIf(process.platform === "win32")("launch options", () => {
  it("are the system's, over them variables, over them what is given: the same by either way", async () => {
    vi.stubEnv("XDG_CONFIG_HOME", folder);
    vi.stubEnv("LLAMA_ARG_N_PARALLEL", "2");
    vi.stubEnv("LLAMA_ARG_CTX_SIZE", "2048");
    const expected = { ubatchSize: 64, parallel: 2, ctxSize: 4096 };
    const problems: LaunchProblem[] = [];
    expect(await launchOptions(["-c", "4096"], (problem) => problems.push(problem))).toMatchObject(expected);
    expect(await launchWith({ ctxSize: 4096 })).toMatchObject(expected);
    expect(problems.map(({ code }) => code)).not.toContain("unknownOption");
  });

  it("come with what llama-server would say against the arguments", async () => {
    vi.stubEnv("XDG_CONFIG_HOME", folder);
    const problems: LaunchProblem[] = [];
    const given = typedArguments(`-m "/models/my model.gguf" --contxt 1`);
    const { model } = await launchOptions(given, (problem) => problems.push(problem));
    expect(model).toBe("/models/my model.gguf");
    expect(problems.map(({ code, severity }) => [code, severity])).toContainEqual(["unknownOption", "error"]);
  });
});
