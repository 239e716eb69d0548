import { describe, expect, it } from "vitest";
import { importCurves } from "../../../../src/core/history/importCurves";

describe("curves of other tools", () => {
  it("reads a sweep: marginal cost behind N_KV", () => {
    // ikawrakow/ik_llama.cpp issue 437, first rows of a table
    const [curve] = importCurves(`main: n_kv_max = 65536, n_batch = 4096
|    PP |     TG |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |
|-------|--------|--------|----------|----------|----------|----------|
|  4096 |   1024 |      0 |   11.730 |   349.19 |  133.500 |     7.67 |
|  4096 |   1024 |   4096 |   12.079 |   339.11 |  136.944 |     7.48 |
`);
    expect(curve?.points).toEqual([
      { depth: 0, tokens: 4096, seconds: 11.73 },
      { depth: 4096, tokens: 4096, seconds: 12.079 },
    ]);
    expect(curve?.generation).toEqual([
      { depth: 0, tokensPerSecond: 7.67 },
      { depth: 4096, tokensPerSecond: 7.48 },
    ]);
  });

  it("reads a batched bench: whole cold prompts, one sequence only", () => {
    const [curve] =
      importCurves(`|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |
|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|
|   512 |    128 |    1 |    640 |    0.071 |  7177.30 |    1.210 |   105.81 |    1.281 |   499.5 |
|   512 |    128 |    8 |   5120 |    0.571 |  7177.30 |    1.210 |   845.81 |    1.781 |  2874.5 |
`);
    expect(curve?.points).toEqual([{ depth: 0, tokens: 512, seconds: 0.071 }]);
    expect(curve?.generation).toEqual([{ depth: 512, tokensPerSecond: 105.81 }]);
  });

  it("counts llama-benchy's cold prompts from their start", () => {
    const run = { concurrency: 1, is_context_prefill_phase: false, prompt_size: 2048, response_size: 32 };
    const report = {
      version: "0.3.0",
      model: "m",
      prefix_caching_enabled: false,
      benchmarks: [
        { ...run, context_size: 0, pp_throughput: { mean: 1024, std: 0, values: [1024] } },
        {
          ...run,
          context_size: 4096,
          pp_throughput: { mean: 1000, std: 0, values: [1000] },
          tg_throughput: { mean: 20, std: 0, values: [20] },
        },
      ],
    };
    const [cold] = importCurves(JSON.stringify(report, null, 2));
    expect(cold?.points).toEqual([
      { depth: 0, tokens: 2048, seconds: 2 },
      { depth: 0, tokens: 6144, seconds: 6.144 },
    ]);
    expect(cold?.generation).toEqual([{ depth: 6144, tokensPerSecond: 20 }]);
    const [cached] = importCurves(JSON.stringify({ ...report, prefix_caching_enabled: true }));
    expect(cached?.points.at(-1)).toEqual({ depth: 4096, tokens: 2048, seconds: 2.048 });
  });

  it("reads llama-benchy's table, where loaded context shows the prefix cache was on", () => {
    const [curve] = importCurves(`| model | test | t/s | ttfr (ms) | est_ppt (ms) | e2e_ttft (ms) |
|:------|-----:|----:|----------:|-------------:|--------------:|
| m | pp2048 | 1024.00 ± 3.00 | 2001 ± 1 | 2000 ± 1 | 2001 ± 1 |
| m | tg32 | 20.00 ± 0.10 | | | |
| m | ctx_pp @ d4096 | 1000.00 ± 3.00 | 1 | 1 | 1 |
| m | pp2048 @ d4096 | 512.00 ± 3.00 | 1 | 1 | 1 |
`);
    expect(curve?.key.model).toBe("m");
    expect(curve?.points).toEqual([
      { depth: 0, tokens: 2048, seconds: 2 },
      { depth: 0, tokens: 4096, seconds: 4.096 },
      { depth: 4096, tokens: 2048, seconds: 4 },
    ]);
  });

  it("says so when there is nothing to import", () => {
    expect(() => importCurves("hello")).toThrow(/contains no measurements/);
  });
});
