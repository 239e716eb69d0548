import { describe, expect, it } from "vitest";
import { parseArguments } from "../../../../src/core/launch/commandLine";
import {
  argumentsWithChange,
  changeArguments,
  readChange,
  type LaunchChange,
} from "../../../../src/core/launch/launchChange";

const change: LaunchChange = { ctxSize: 65_536, cacheTypeK: "q8_0", parallel: 2, gpuLayers: 12 };

describe("a change of launch options", () => {
  it("is written as llama-server's own arguments", () => {
    expect(changeArguments(change)).toEqual(["-c", "65536", "-ctk", "q8_0", "-np", "2", "-ngl", "12"]);
    expect(parseArguments(changeArguments(change)).options).toEqual(change);
  });

  it("takes the place of what a command line said, under whatever name, and leaves the rest", () => {
    const argv = [
      "-m",
      "a.gguf",
      "--ctx-size",
      "4096",
      "--n-gpu-layers",
      "99",
      "--jinja",
      "--lora",
      "-c",
      "-ub",
      "256",
    ];
    const changed = argumentsWithChange(argv, change);
    expect(changed.slice(0, -8)).toEqual(["-m", "a.gguf", "--jinja", "--lora", "-c", "-ub", "256"]);
    const { options, problems } = parseArguments(changed);
    expect(problems).toEqual([]);
    expect(options).toMatchObject({ ...change, ubatchSize: 256, lora: ["-c"] });
  });

  it("comes from outside only with known options and values llama-server takes", () => {
    expect(readChange(change)).toEqual(change);
    expect(readChange({})).toEqual({});
    for (const bad of [
      null,
      "ctxSize",
      { ctxSize: "65536" },
      { ctxSize: 0 },
      { ctxSize: 1.5 },
      { cacheTypeK: "q2_K" },
      { flashAttn: "yes" },
      { parallel: 100_000 },
      { model: "/etc/passwd" },
      { constructor: 1 },
      { gpuLayers: -1 },
    ]) {
      expect(readChange(bad), JSON.stringify(bad)).toBeUndefined();
    }
  });
});
