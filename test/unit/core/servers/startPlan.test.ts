import { describe, expect, it } from "vitest";
import { planStart } from "../../../../src/core/servers/startPlan";
import { UserError } from "../../../../src/core/userError";

const settings = { port: 9931, logFile: "/logs/server.log", environment: {} };

describe("a server to be started", () => {
  it("gets a port and a log of its own where it names none", () => {
    expect(planStart(["-m", "a b.gguf", "-c", "4096"], settings)).toEqual({
      arguments: ["-m", "a b.gguf", "-c", "4096", "--port", "9931", "--log-file", "/logs/server.log"],
      secrets: {},
      url: "http://127.0.0.1:9931",
      logFile: "/logs/server.log",
    });
  });

  it("keeps what it names, also in variables it inherits", () => {
    const own = ["-m", "a.gguf", "--port", "8123", "--host", "0.0.0.0", "--log-file", "mine.log"];
    expect(planStart(own, settings)).toMatchObject({
      arguments: own,
      url: "http://127.0.0.1:8123",
      logFile: "mine.log",
    });
    const environment = { LLAMA_ARG_PORT: "8124", LLAMA_ARG_MODEL: "b.gguf", LLAMA_ARG_LOG_FILE: "its.log" };
    expect(planStart([], { ...settings, environment })).toMatchObject({
      arguments: [],
      url: "http://127.0.0.1:8124",
      logFile: "its.log",
    });
  });

  it("hands keys and tokens over in the environment, not in arguments", () => {
    const plan = planStart(["--api-key", "one,two", "-m", "a.gguf", "-hft", "hf_x"], settings);
    expect(plan.secrets).toEqual({ LLAMA_API_KEY: "one,two", HF_TOKEN: "hf_x" });
    expect(plan.apiKey).toBe("one");
    expect(plan.arguments.join(" ")).not.toMatch(/one|hf_x|--api-key|-hft/);
  });

  it("takes the chosen model where none is named, and none for a router", () => {
    expect(planStart(["-c", "512"], { ...settings, model: "/m.gguf" }).arguments).toContain("/m.gguf");
    expect(planStart(["--models-dir", "/models"], { ...settings, model: "/m.gguf" }).arguments).not.toContain(
      "/m.gguf",
    );
    expect(planStart(["--gpt-oss-20b-default"], settings).arguments[0]).toBe("--gpt-oss-20b-default");
  });

  it.each([
    ["what llama-server refuses", ["-m", "a.gguf", "-c", "many"], "invalidInput"],
    ["no model", ["-c", "512"], "invalidInput"],
    ["a socket", ["-m", "a.gguf", "--host", "/run/llama.sock"], "unsupported"],
    ["a port that the system chooses", ["-m", "a.gguf", "--port", "0"], "unsupported"],
  ])("is not started with %s", (_, argv, reason) => {
    try {
      planStart(argv, settings);
      expect.unreachable();
    } catch (error) {
      expect(error instanceof UserError && error.reason).toBe(reason);
    }
  });
});
