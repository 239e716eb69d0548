import { describe, expect, it } from "vitest";
import { parseArguments } from "../../../../src/core/launch/commandLine";
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";
import { formatText } from "../../../../src/core/format";
import { contextTable } from "../../../../src/core/memory/budget/contextTable";
import type { MemoryDevice } from "../../../../src/core/memory/devices/memoryDevice";
import { maxContext } from "../../../../src/core/memory/budget/maxContext";
import { memoryBudget } from "../../../../src/core/memory/budget/memoryBudget";
import type { MemoryReport } from "../../../../src/core/memory/budget/memoryReport";
import { differencesOf } from "../../../../src/core/memory/budget/sources";
import type { Model } from "../../../../src/core/model/model";
import { modelOf } from "../../../../src/core/model/modelOf";
import { tryableOptions } from "../../../../src/core/report/tryableOptions";
import { headers } from "./fixtures";

const GiB = 2 ** 30;
const MiB = 2 ** 20;

function modelNamed(name: string): Model {
  const header = headers().get(name);
  if (header === undefined) throw new Error(`no header ${name}`);
  return modelOf(header);
}

const launch = (text: string): LaunchOptions => parseArguments(text.split(" ")).options;
const hybrid = modelNamed("qwen3.5-35b-a3b-nomtp-q4_k_m.gguf");
const gpu = (freeBytes: number): readonly MemoryDevice[] => [
  { name: "CUDA0", freeBytes, totalBytes: 24 * GiB },
  { name: "Host", freeBytes: 64 * GiB },
];

describe("the table of contexts and KV types", () => {
  const table = contextTable(hybrid, launch("-m m.gguf -np 1 -ngl 99"), gpu(23 * GiB));

  it("has a user's columns from 8K to 256K, and grows by what this user measured", () => {
    expect(table.contexts).toEqual([8192, 16_384, 32_768, 65_536, 131_072, 262_144]);
    // Qwen3.6 35B-A3B on its machine: 22,632 B per token from 8K to 256K with f16
    const f16 = table.rows.find(({ type }) => type === "f16");
    const [first, last] = [f16?.cells.at(0), f16?.cells.at(-1)];
    const perToken = ((last?.totalBytes ?? 0) - (first?.totalBytes ?? 0)) / (262_144 - 8192);
    expect(Math.abs(perToken / 22_632 - 1)).toBeLessThan(0.03);
  });

  it("names the device that decides, and agrees with max-context about where it ends", () => {
    const { perType } = maxContext(hybrid, launch("-m m.gguf -np 1 -ngl 99"), gpu(23 * GiB));
    for (const row of table.rows) {
      const most = perType.find(({ typeK, typeV }) => typeK === row.typeK && typeV === row.typeV)?.nCtx ?? -1;
      expect(row.largest, row.type).toBe(most);
      for (const cell of row.cells) {
        expect(cell.verdict === "fits", `${row.type} ${cell.nCtx}`).toBe(cell.nCtx <= most);
        expect(cell.tightest?.device).toBe("CUDA0");
      }
    }
  });

  it("says which types llama-server refuses", () => {
    const off = contextTable(hybrid, launch("-m m.gguf -np 1 -fa off"), gpu(23 * GiB));
    expect(off.rows.map(({ type, allowed }) => [type, allowed])).toEqual([
      ["f16", true],
      // as the real server does: K alone may be quantised without flash attention
      ["q8_0 / f16", true],
      ["f16 / q8_0", false],
      ["q8_0", false],
      ["q8_0 / q4_0", false],
      ["q5_1", false],
      ["q4_0", false],
    ]);
  });
});

describe("the margin", () => {
  const options = launch("-m m.gguf -np 1 -c 65536 -ngl 99");
  const need = memoryBudget(hybrid, options, gpu(24 * GiB)).devices[0]?.interval.highBytes ?? 0;

  it.each([
    ["as -fit's own gigabyte", undefined, GiB],
    ["as -fitt says", undefined, 300 * MiB, " -fitt 300"],
    ["as the user says", 3 * GiB, 3 * GiB, " -fitt 300"],
    ["nothing, where the user says so", 0, 0],
  ])("is %s, and decides to the byte", (_, marginBytes, margin, more = "") => {
    const settings = marginBytes === undefined ? {} : { marginBytes };
    const verdict = (free: number): unknown =>
      memoryBudget(hybrid, { ...options, ...launch(`-m m.gguf${more}`) }, gpu(free), settings).devices[0]
        ?.verdict;
    expect(verdict(need + margin)).toBe("fits");
    expect(verdict(need + margin - 1)).toBe("tight");
  });

  it("of the user's changes nothing that -fit does", () => {
    const free = gpu(16 * GiB);
    const asked = launch("-m m.gguf -np 1 -c 65536");
    const place = (report: MemoryReport): unknown => report.devices.map(({ totalBytes }) => totalBytes);
    expect(place(memoryBudget(hybrid, asked, free, { marginBytes: 6 * GiB }))).toEqual(
      place(memoryBudget(hybrid, asked, free)),
    );
  });
});

describe("what can be tried on a report", () => {
  const knobs = (
    text: string,
    model: Model,
    devices: readonly MemoryDevice[],
  ): ReturnType<typeof tryableOptions> =>
    tryableOptions(model, launch(text), memoryBudget(model, launch(text), devices), undefined);

  it("starts from how it is, and ends at the training context of every slot's stream", () => {
    const { now, contexts, gpuLayers, nCpuMoe } = knobs(
      "-m m.gguf -c 50000 -np 2 -ub 1024 -ctk q8_0",
      hybrid,
      gpu(GiB),
    );
    expect(now).toEqual({
      ctxSize: "50176",
      cacheTypeK: "q8_0",
      cacheTypeV: "f16",
      parallel: "2",
      ubatchSize: "1024",
      flashAttn: "auto",
    });
    expect(contexts).toContain(50_176);
    expect(contexts.at(-1)).toBe(2 * 262_144);
    expect(contexts).toEqual([...contexts].sort((a, b) => a - b));
    expect(gpuLayers).toEqual({ most: 41 });
    expect(nCpuMoe).toEqual({ most: 40, now: 0 });
  });

  it("has no layers to place without a GPU, and no experts in a dense model", () => {
    expect(knobs("-m m.gguf", hybrid, [])).not.toHaveProperty("gpuLayers");
    const dense = modelNamed("llama-3.1-8b-q4_k_m.gguf");
    const { gpuLayers, nCpuMoe } = knobs("-m m.gguf -ngl 10", dense, gpu(23 * GiB));
    expect(gpuLayers).toEqual({ now: 10, most: 33 });
    expect(nCpuMoe).toBeUndefined();
  });
});

describe("sources of a budget", () => {
  const computed = memoryBudget(hybrid, launch("-m m.gguf -np 1 -c 8192"), []);
  const words = (report: MemoryReport): readonly string[] =>
    differencesOf(report).map((line) => formatText(line));
  const changed = (by: number): readonly MemoryReport["devices"][number][] =>
    computed.devices.map((device) => ({ ...device, computeBytes: device.computeBytes + by }));

  it("agree within the MiB that llama.cpp prints", () => {
    expect(words(computed)).toEqual([]);
    expect(words({ ...computed, devices: changed(MiB), computed })).toEqual([
      "llama-fit-params and our formulas agree to the MiB it prints.",
    ]);
  });

  it("differ in words, by device and term", () => {
    expect(words({ ...computed, devices: changed(40 * MiB), computed, logged: changed(-3 * MiB) })).toEqual([
      "Host: llama-fit-params reports 40.0 MiB more for compute buffers than we compute; its figure is used.",
      "Host: the log of the running server reports 3.0 MiB less for compute buffers than we compute.",
    ]);
  });
});
