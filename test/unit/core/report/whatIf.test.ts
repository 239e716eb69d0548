import { describe, expect, it } from "vitest";
import { known } from "../../../../src/core/known";
import { modelOf } from "../../../../src/core/model/modelOf";
import type { LaunchChange } from "../../../../src/core/launch/launchChange";
import type { MemoryReport } from "../../../../src/core/memory/budget/memoryReport";
import { whatIf, type Judged } from "../../../../src/core/report/whatIf";
import { sampleReport } from "../../../support/sampleReports";
import { oneDevice, whatIfSample, type WhatIfSample } from "../../../support/whatIfSample";
import { headers, truth } from "../memory/fixtures";

const header = headers().get("qwen3.5-35b-a3b-nomtp-q4_k_m.gguf");
if (header === undefined) throw new Error("the header is missing");
const model = modelOf(header);
const MiB = 2 ** 20;

type Sample = Pick<WhatIfSample, "report" | "situation">;

function judgedOf({ report, situation }: Sample, change: LaunchChange): Judged {
  const judged = whatIf(report, situation, change);
  if (judged === undefined) throw new Error("nothing can be tried");
  return judged;
}

function memoryOf(sample: Sample, change: LaunchChange): MemoryReport {
  const { memory } = judgedOf(sample, change);
  if (!memory.known) throw new Error("no budget");
  return memory.value;
}

describe("what-if on a report", () => {
  it("gives the KV cache that llama.cpp allocated for the tried options", () => {
    const rows = truth().rows.filter(
      (row) =>
        row.model.name === model.name &&
        row.backend === "cpu" &&
        row.caller === "server" &&
        !row.draftContext,
    );
    expect(rows.length).toBeGreaterThan(4);
    for (const row of rows) {
      const { ctxSize, cacheTypeK, cacheTypeV, parallel, ubatchSize } = row.options;
      const tried = {
        ...(ctxSize !== undefined && ctxSize > 0 && { ctxSize }),
        ...(cacheTypeK !== undefined && { cacheTypeK }),
        ...(cacheTypeV !== undefined && { cacheTypeV }),
        ...(parallel !== undefined && parallel > 0 && { parallel }),
        ...(ubatchSize !== undefined && { ubatchSize }),
      };
      const rest = Object.fromEntries(Object.entries(row.options).filter(([field]) => !(field in tried)));
      const { report, situation } = whatIfSample(model, ["-m", "m.gguf", "-c", "4096"], []);
      const memory = memoryOf({ report, situation: { ...situation, launch: rest } }, tried);
      const real = [...row.buffers.values()].reduce((sum, [, context]) => sum + context, 0);
      const ours = memory.devices.reduce((sum, device) => sum + device.contextBytes, 0);
      expect(Math.abs(ours - real), row.name).toBeLessThanOrEqual(MiB);
    }
  });

  it("judges acceptance by the tried context, and memory although a server runs", () => {
    const { tried } = whatIfSample(model, ["-m", "m.gguf", "-c", "65536", "-np", "1"], oneDevice);
    const small = tried({ ctxSize: 8192 });
    expect(small.server.known).toBe(true);
    expect(small.acceptance).toMatchObject({ nCtxPerSlot: 8192, accepted: false });
    expect(small.verdict.kind).toBe("exceedsContext");
    const halves = tried({ parallel: 4 });
    expect(halves.acceptance).toMatchObject({ nCtxPerSlot: 16_384, accepted: false });
    const large = tried({ ctxSize: 262_144 });
    expect(large.acceptance.accepted).toBe(true);
    expect(large.memory.known && large.memory.value.warnings.map(({ code }) => code)).toContain(
      "fitMovesLayers",
    );
    // 22.5 KiB per token: 200,000 more tokens are 4.2 GiB, and -ngl keeps -fit from moving layers
    const held = tried({ ctxSize: 262_144, gpuLayers: 99 });
    expect(held.verdict.kind).toBe("exceedsMemory");
  });

  it("keeps the wait for another context, and has none for what was not measured", () => {
    const { report, tried } = whatIfSample(model, ["-m", "m.gguf", "-c", "65536", "-np", "1"], oneDevice);
    expect(tried({ ctxSize: 131_072 }).prefill).toEqual(report.prefill);
    const quantised = tried({ cacheTypeK: "q8_0", cacheTypeV: "q8_0" });
    expect(quantised.prefill.known).toBe(false);
    expect(quantised.curve).toBeUndefined();
  });

  it("uses what was measured with the tried options", () => {
    const { report, situation } = whatIfSample(model, ["-m", "m.gguf", "-c", "65536", "-np", "1"], oneDevice);
    if (report.curve === undefined) throw new Error("no curve");
    const slower = {
      ...report.curve,
      points: report.curve.points.map((point) => ({ ...point, seconds: 2 * point.seconds })),
    };
    const withCurves = {
      report,
      situation: { ...situation, curveOf: () => known(slower) },
    };
    const { prefill } = judgedOf(withCurves, { cacheTypeK: "q8_0" });
    if (!prefill.known || !report.prefill.known) throw new Error("no prediction");
    expect(prefill.seconds / report.prefill.seconds).toBeCloseTo(2, 1);
  });

  it("has nothing to say without a model", () => {
    const { situation } = whatIfSample(model, ["-m", "m.gguf"], oneDevice);
    expect(whatIf(sampleReport(), situation, { ctxSize: 4096 })).toBeUndefined();
  });
});
