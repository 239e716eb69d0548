import { describe, expect, it } from "vitest";
import { parseArguments } from "../../../../src/core/launch/commandLine";

const codes = (argv: string[], env = {}): string[] =>
  parseArguments(argv, env).problems.map((problem) => `${problem.severity} ${problem.code}`);

describe("arguments of llama-server", () => {
  it("reads short and long names, underscores and negative forms", () => {
    const { options, problems } = parseArguments(
      "-m a.gguf --ctx_size 4096 -np 2 -ctk q8_0 --no_kv-offload -nr -kvu -ngl all".split(" "),
    );
    expect(problems).toEqual([]);
    expect(options).toEqual({
      model: "a.gguf",
      ctxSize: 4096,
      parallel: 2,
      cacheTypeK: "q8_0",
      kvOffload: false,
      repack: false,
      kvUnified: true,
      gpuLayers: "all",
    });
  });

  it("reads lists", () => {
    const { options } = parseArguments([
      ...["-ts", "3,1/2", "-fitt", "512,1024", "-dev", "none", "--spec-type", "draft-mtp,ngram-mod"],
      ...["-ot", "blk\\.(1|2)\\.=CPU,output=CUDA0", "--rpc", "10.0.0.2:50052"],
    ]);
    expect(options).toEqual({
      tensorSplit: [3, 1, 2],
      fitTarget: [512, 1024],
      devices: [],
      specType: ["draft-mtp", "ngram-mod"],
      overrideTensor: [
        { pattern: "blk\\.(1|2)\\.", buffer: "CPU" },
        { pattern: "output", buffer: "CUDA0" },
      ],
      rpc: ["10.0.0.2:50052"],
    });
  });

  it("lets the last value count and says so", () => {
    const { options } = parseArguments(["-c", "4096", "-c", "8192"]);
    expect(options.ctxSize).toBe(8192);
    expect(codes(["-c", "4096", "-c", "8192"])).toEqual(["warning repeatedOption"]);
  });

  it("reads numbers as C does: 32k is 32", () => {
    expect(parseArguments(["-c", "32k"]).options.ctxSize).toBe(32);
    expect(codes(["-c", "32k"])).toEqual(["warning trailingText"]);
  });

  it("puts the command line over the environment, and a negative variable over the plain one", () => {
    const env = { LLAMA_ARG_CTX_SIZE: "1024", LLAMA_ARG_NO_KV_OFFLOAD: "", LLAMA_ARG_KV_OFFLOAD: "1" };
    const { options, origins } = parseArguments(["-c", "2048"], env);
    expect(options).toEqual({ ctxSize: 2048, kvOffload: false });
    expect(origins.get("ctxSize")).toEqual({ kind: "commandLine", flag: "-c" });
    expect(origins.get("kvOffload")).toEqual({ kind: "environment", variable: "LLAMA_ARG_NO_KV_OFFLOAD" });
  });

  it.each([
    [["--ctx-szie", "4096"], "unknownOption", ["--ctx-size"]],
    [["--no-mmap"], "removedOption", ["--load-mode", "none"]],
    [["--draft-max", "8"], "removedOption", ["--spec-draft-n-max", "8"]],
    [["-fa", "-m", "a"], "bareFlashAttn", ["-fa", "on"]],
    [["--ctx-size=4096"], "equalsForm", ["--ctx-size", "4096"]],
  ])("says what to write instead of %j", (argv, code, instead) => {
    const [problem] = parseArguments(argv).problems;
    expect(problem).toMatchObject({ code, severity: "error", instead, argument: 0 });
  });

  it("understands old forms in spite of the problem", () => {
    const old = ["--ctx-size=4096", "--no-mmap", "-fa", "--draft-max", "8", "-m", "a.gguf"];
    expect(parseArguments(old).options).toEqual({
      ctxSize: 4096,
      loadMode: "none",
      flashAttn: "on",
      specDraftNMax: 8,
      model: "a.gguf",
    });
  });

  it("takes old names without complaint for a build that had them", () => {
    const { options, problems } = parseArguments(["--mlock", "-c", "1"], {}, { build: 9000 });
    expect([options, problems]).toEqual([{ loadMode: "mlock", ctxSize: 1 }, []]);
  });

  it("keeps no secret", () => {
    const env = { LLAMA_API_KEY: "hunter2", HF_TOKEN: "hunter2" };
    const parsed = parseArguments(["--api-key", "hunter2", "--hf-token=hunter2", "-hft", "hunter2"], env);
    expect(JSON.stringify({ ...parsed, origins: [...parsed.origins] })).not.toContain("hunter2");
    expect(parsed.given.map(({ option }) => option.name)).toContain("--api-key");
  });

  it("goes on after anything", () => {
    const argv = [
      "serve",
      "--bogus",
      "5",
      "",
      "-",
      "--",
      "--=",
      "-c",
      "-fa",
      "maybe",
      "\u0000",
      "-np",
      "0",
      "-b",
    ];
    const { options, problems } = parseArguments(argv);
    expect(options).toEqual({});
    expect(problems.filter(({ severity }) => severity === "error").length).toBeGreaterThan(6);
  });

  // each as llama-server build 11669 answers
  it.each([
    ["--poll", "-18446744073709551615", true],
    ["--poll", "18446744073709551615", true],
    ["--poll", "18446744073709551616", false],
    ["-j", "{}", true],
    ["-j", "[]", false],
    ["-j", "5", false],
    ["--chat-template-kwargs", "5", true],
    ["--spec-synth-len", "nan", true],
    ["--spec-synth-len", "inf", true],
    ["--spec-synth-len", "0x1p3", true],
    ["--spec-synth-len", "5 ", true],
    ["--spec-synth-len", "1x", false],
    ["--spec-synth-len", "1e400", false],
    ["--spec-synth-len", "1e-400", false],
    ["-Cr", " 1 - 2", true],
    ["-Cr", "1-2x", true],
    ["-Cr", "1e-4", true],
    ["-Cr", "-", true],
    ["-Cr", "0-511", true],
    ["-Cr", "0-512", false],
    ["-Cr", "0--1", false],
    ["-Cr", "x-2", false],
  ])("%s %j is taken: %s", (flag, value, taken) => {
    const errors = parseArguments([flag, value]).problems.filter(({ severity }) => severity === "error");
    expect(errors.length === 0).toBe(taken);
  });
});
