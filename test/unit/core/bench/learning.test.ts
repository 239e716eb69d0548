import { describe, expect, it } from "vitest";
import { agreementOf } from "../../../../src/core/bench/comparison";
import { compareWithBaseline } from "../../../../src/core/history/baseline";
import { armsOf, variedOptions } from "../../../../src/core/bench/comparisonArms";
import { benchArguments, speedFlags } from "../../../../src/core/llamaBench/benchArguments";
import type { HistoryRecord } from "../../../../src/core/history/historyRecord";
import { parseLlamaBench } from "../../../../src/core/llamaBench/parseLlamaBench";
import { readMetrics, timingBetween } from "../../../../src/core/bench/serverMetrics";
import { formatText } from "../../../../src/core/format";
import type { DepthCurve } from "../../../../src/core/prefill/depthCurve";

describe("what /metrics says about requests", () => {
  /** As build 11669 writes it, shortened. */
  const metrics = (tokens: number, cached: number, seconds: number, processing = 0): string => `
# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed.
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total ${tokens}
llamacpp:prompt_tokens_cached_total ${cached}
llamacpp:prompt_seconds_total ${seconds}
llamacpp:tokens_predicted_total 12
llamacpp:tokens_predicted_seconds_total 0.5
llamacpp:requests_processing ${processing}
`;
  const read = (text: string) => readMetrics(text) ?? fail();

  it("is one request between two looks at an idle server", () => {
    const timing = timingBetween(read(metrics(1000, 50, 2)), read(metrics(9000, 4146, 12)));
    expect(timing).toEqual({ cached: 4096, tokens: 8000, seconds: 10 });
  });

  it("is nothing while a request runs, after a restart, and from another server", () => {
    expect(timingBetween(read(metrics(1000, 0, 2)), read(metrics(9000, 0, 12, 1)))).toBeUndefined();
    expect(timingBetween(read(metrics(9000, 0, 12)), read(metrics(100, 0, 1)))).toBeUndefined();
    expect(readMetrics("<html>")).toBeUndefined();
  });
});

describe("agreement of greedy answers", () => {
  it("counts up to the first difference", () => {
    const same = [1, 2, 3, 4];
    expect(agreementOf([same, same], [same, [1, 2, 9, 4]])).toEqual({ agreed: 6, of: 7 });
    expect(agreementOf([same], [[9, 9, 9, 9]])).toEqual({ agreed: 0, of: 1 });
    expect(agreementOf([same], [])).toEqual({ agreed: 0, of: 1 });
  });
});

describe("arguments for llama-bench", () => {
  it("are the server's, in llama-bench's way of writing lists", () => {
    const options = {
      model: "m.gguf",
      cacheTypeK: "q8_0",
      flashAttn: "on",
      gpuLayers: "all",
      tensorSplit: [3, 1],
      devices: ["CUDA0", "CUDA1"],
      overrideTensor: [
        { pattern: "exps", buffer: "CPU" },
        { pattern: "blk.1", buffer: "CUDA0" },
      ],
      kvOffload: false,
      ctxSize: 4096,
    } as const;
    expect(benchArguments(options).join(" ")).toBe(
      "-m m.gguf -fa on -ctk q8_0 -ngl 999 -ts 3/1 -dev CUDA0/CUDA1 -ot exps=CPU;blk.1=CUDA0 -nkvo 1",
    );
    expect(speedFlags(options)).toBe(speedFlags({ ...options, model: "other.gguf", ctxSize: 8192 }));
    expect(speedFlags(options)).not.toBe(speedFlags({ ...options, cacheTypeK: "f16" }));
  });
});

describe("arms of a comparison", () => {
  it("keeps the baseline's second run apart", () => {
    const line = (typeK: string, depth: number, seconds: number): string =>
      JSON.stringify({
        type_k: typeK,
        type_v: "f16",
        n_prompt: 512,
        n_gen: 0,
        n_depth: depth,
        avg_ns: seconds * 1e9,
      });
    const [typeK] = variedOptions;
    if (typeK === undefined) throw new Error();
    const text = [
      line("f16", 0, 1),
      line("f16", 4096, 2),
      line("q8_0", 0, 1),
      line("q8_0", 4096, 3),
      line("f16", 0, 1),
    ];
    const arms = armsOf(parseLlamaBench(text.join("\n")).rows, [typeK], "prefill");
    expect(arms.map((a) => a.settings["cacheTypeK"])).toEqual(["f16", "q8_0", "f16"]);
    expect(arms[1]?.costs).toEqual([
      { depth: 0, secondsPerToken: [1 / 512] },
      { depth: 4096, secondsPerToken: [3 / 512] },
    ]);
  });
});

describe("a run beside its baseline", () => {
  const curve = (scale: number, key: DepthCurve["key"]): DepthCurve => ({
    key,
    points: [0, 2048, 4096, 6144].map((depth) => ({
      depth,
      tokens: 2048,
      seconds: scale * (1 + depth / 8192),
    })),
    generation: [
      { depth: 0, tokensPerSecond: 20 / scale },
      { depth: 8192, tokensPerSecond: 10 / scale },
    ],
  });
  const run = (c: DepthCurve): HistoryRecord => ({
    version: 1,
    id: "x",
    kind: "probe",
    at: 0,
    tool: "t",
    curve: c,
  });
  const key = { model: "m", build: "b1", flags: "-ctk f16" };

  it("says how much slower it is at which depth", () => {
    const found = compareWithBaseline(run(curve(1, key)), run(curve(1.35, { ...key, build: "b2" })));
    expect(found?.differs).toEqual(["build"]);
    for (const row of found?.rows ?? []) {
      expect(row.prefillChange).toBeCloseTo(0.35, 6);
      expect(row.generationChange).toBeCloseTo(0.35, 6);
    }
    expect(formatText(found?.sentence ?? fail())).toBe(
      "Prefill at 8,192 tokens takes 35 % longer than the baseline.",
    );
  });

  it("names no single cause when two things changed at once", () => {
    const other = curve(0.5, { ...key, build: "b2", flags: "-ctk q8_0" });
    const found = compareWithBaseline(run(curve(1, key)), run(other));
    expect(formatText(found?.sentence ?? fail())).toMatch(
      /50 % less.*build, flags changed at once; no single one/,
    );
  });

  it("takes one build written in two ways, and what only one run tells, for no difference", () => {
    const server = { ...key, build: "b11669-Debian", hardware: "EPYC" };
    const bench = { ...key, build: "Debian (11669)", backend: "CPU", hardware: "EPYC" };
    const found = compareWithBaseline(run(curve(1, server)), run(curve(1.5, bench)));
    expect(found?.differs).toEqual([]);
    const moved = { ...bench, hardware: "M3", build: "Debian (11700)" };
    expect(compareWithBaseline(run(curve(1, server)), run(curve(1.5, moved)))?.differs).toEqual([
      "build",
      "hardware",
    ]);
  });

  it("says where one of the two was disturbed", () => {
    const monitor = { verdict: "contaminated", events: [], samples: 9 } as const;
    const found = compareWithBaseline(run(curve(1, key)), { ...run(curve(1.5, key)), monitor });
    expect(formatText(found?.sentence ?? fail())).toMatch(/50 % longer .* disturbed during one of the two/);
  });

  it("does not make news of what two days differ by", () => {
    const found = compareWithBaseline(run(curve(1, key)), run(curve(1.1, key)));
    expect(formatText(found?.sentence ?? fail())).toContain("within normal day-to-day variation");
  });
});

function fail(): never {
  throw new Error("missing");
}
