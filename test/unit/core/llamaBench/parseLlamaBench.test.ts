import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { curvesOf } from "../../../../src/core/llamaBench/benchCurve";
import { parseLlamaBench } from "../../../../src/core/llamaBench/parseLlamaBench";

/** What build 11669 printed for `-p 64 -n 4 -d 0,128 -r 2` in each format (a run of its own for each). */
const output = (format: string): string =>
  readFileSync(path.join(import.meta.dirname, `../../../fixtures/speed/llama-bench.${format}`), "utf8");

describe("llama-bench output", () => {
  it.each(["json", "jsonl", "csv", "md", "sql"])("has the same four tests in %s", (format) => {
    const { rows, rejected, warnings } = parseLlamaBench(output(format));
    expect(rows.map((r) => [r.promptTokens, r.generatedTokens, r.depth])).toEqual([
      [64, 0, 0],
      [0, 4, 0],
      [64, 0, 128],
      [0, 4, 128],
    ]);
    expect(rejected).toEqual([]);
    expect(warnings).toEqual([]);
    expect(new Set(rows.map((r) => JSON.stringify(r.key))).size).toBe(1);
    for (const row of rows) {
      expect(row.key.build).toContain("11669");
      expect(row.key.backend).toBe("CPU");
    }
  });

  it("keeps every sample where the format has them", () => {
    const [row] = parseLlamaBench(output("jsonl")).rows;
    expect(row?.samples).toEqual([0.001279155, 0.001166487]);
    expect(row?.key).toMatchObject({ model: "/models/qwen3-tiny.gguf", hardware: "AMD EPYC" });
    expect(row?.key.flags).toContain("type_k=f16");
    expect(row?.key.flags).toContain("n_ubatch=512");
  });

  it("agrees with the speeds that are printed", () => {
    const md = parseLlamaBench(output("md")).rows[2];
    expect(64 / (md?.samples[0] ?? 0)).toBeCloseTo(15865.77, 2);
    const csv = parseLlamaBench(output("csv")).rows[0];
    expect(csv?.samples[0]).toBe(0.003316866);
  });

  it("reads what a killed run left: an array that was never closed, a last object that broke off", () => {
    const whole = output("json");
    const cut = whole.slice(0, whole.lastIndexOf("samples_ns"));
    expect(parseLlamaBench(cut).rows).toHaveLength(3);
  });

  it("sets warnings apart, before, between and inside objects", () => {
    const warning = "warning: asserts enabled, performance may be affected";
    const jsonl = output("jsonl");
    const between = parseLlamaBench(`${warning}\n${jsonl.replace("\n", `\n${warning}\n`)}`);
    expect(between.rows).toHaveLength(4);
    expect(between.warnings).toEqual([warning, warning]);
    const inside = parseLlamaBench(output("json").replace(/("n_batch"[^\n]*\n)/, `$1${warning}\n`));
    expect(inside.rows).toHaveLength(4);
    expect(inside.warnings).toEqual([warning]);
  });

  it("reads rows of old builds: flash_attn as boolean, no depth, no samples", () => {
    const old =
      '{"build_commit":"a6cc43c2","build_number":3600,"model_filename":"m.gguf","flash_attn":true,"type_k":"f16","n_prompt":512,"n_gen":0,"avg_ns":1000000000,"avg_ts":512}';
    const [row] = parseLlamaBench(`[${old}]`).rows;
    expect(row).toMatchObject({ depth: 0, promptTokens: 512, samples: [1] });
    expect(row?.key.flags).toBe("flash_attn=true type_k=f16");
  });

  it("refuses figures that cannot be and keeps them as they came", () => {
    const line = (fields: object): string =>
      JSON.stringify({ model_filename: "m", n_prompt: 512, n_gen: 0, n_depth: 0, ...fields });
    const { rows, rejected } = parseLlamaBench(
      [line({ avg_ns: 0 }), line({ avg_ns: 1000 }), line({}), line({ n_prompt: 0, avg_ns: 1e9 })].join("\n"),
    );
    expect(rows).toEqual([]);
    expect(rejected.map((r) => r.why)).toEqual(["no time", "impossibly fast", "no time", "no token counts"]);
    expect(rejected[0]?.raw).toContain('"avg_ns":"0"');
  });

  it("finds nothing in an error and says what was there", () => {
    const error = "error: invalid parameter for argument: -d";
    expect(parseLlamaBench(error)).toEqual({ rows: [], rejected: [], warnings: [error] });
  });

  it("never mixes two keys in one curve", () => {
    const jsonl = output("jsonl");
    const curves = curvesOf(
      parseLlamaBench(jsonl + jsonl.replaceAll('"type_k": "f16"', '"type_k": "q8_0"')).rows,
    );
    expect(curves).toHaveLength(2);
    expect(curves[0]?.points.map((p) => p.depth)).toEqual([0, 0, 128, 128]);
    expect(curves[0]?.generation).toHaveLength(4);
  });

  it("gives every pasted table the build below it", () => {
    const run = (build: string): string =>
      `| model | size | params | backend | threads | test | t/s |
| --- | ---: | ---: | --- | ---: | ---: | ---: |
| llama 1B | 1 GiB | 1 B | CPU | 2 | pp512 | 100.00 ± 1.0 |

build: ${build}
`;
    const builds = (text: string): readonly string[] =>
      parseLlamaBench(text).rows.map((row) => row.key.build);
    expect(builds(run("abc (5000)") + run("def (6000)"))).toEqual(["abc (5000)", "def (6000)"]);
    expect(builds(run("abc (5000)").replace(/build:.*/, ""))).toEqual([""]);
  });

  it.each([
    ["a brace that is never closed in a warning", (json: string) => `ggml_cuda_init: {found\n${json}`],
    ["warnings around it", (json: string) => `a { b\nc { d\n${json}\n{ e`],
  ])("finds its objects behind %s", (_, around) => {
    const json = JSON.stringify({ model_filename: "m", n_prompt: 512, n_gen: 0, avg_ns: 1e9 });
    expect(parseLlamaBench(around(json)).rows).toHaveLength(1);
  });

  it("refuses a time longer than a year, and a speed that could be two numbers", () => {
    const slow = JSON.stringify({ model_filename: "m", n_prompt: 512, n_gen: 0, avg_ns: 1e300 });
    expect(parseLlamaBench(slow)).toMatchObject({ rows: [], rejected: [{ why: "no time" }] });
    const table = (speed: string): string =>
      `| model | test | t/s |\n|---|---|---|\n| m | pp512 | ${speed} |`;
    expect(parseLlamaBench(table("1,234.5 ± 3.2")).rows).toEqual([]);
    expect(parseLlamaBench(table("1024.0 ± 3.2")).rows[0]?.samples).toEqual([0.5]);
  });
});
