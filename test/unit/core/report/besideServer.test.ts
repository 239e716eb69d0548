import { describe, expect, it } from "vitest";
import { formatText } from "../../../../src/core/format";
import { known, unknown } from "../../../../src/core/known";
import { deviceVerdict, overallVerdict } from "../../../../src/core/memory/budget/memoryVerdict";
import type { DeviceBudget, MemoryReport } from "../../../../src/core/memory/budget/memoryReport";
import type { ServerMemory } from "../../../../src/core/memory/devices/liveMemory";
import { besideServer, shownVerdict } from "../../../../src/core/report/besideServer";
import { say } from "../../../../src/core/text";

const GiB = 2 ** 30;
const here = known({ url: "http://127.0.0.1:8080" });

/** A budget of one device, judged by the rule for all budgets. */
function budget(name: string, needGiB: number, freeGiB: number): MemoryReport {
  const need = { lowBytes: 0.97 * needGiB * GiB, highBytes: 1.03 * needGiB * GiB };
  const device: DeviceBudget = {
    ...{ name, modelBytes: 0, contextBytes: 0, computeBytes: 0, interval: need },
    ...{ totalBytes: needGiB * GiB, freeBytes: freeGiB * GiB },
    ...deviceVerdict(need, 0, freeGiB * GiB, GiB),
  };
  return {
    source: "computed",
    context: { nCtx: 4096, nCtxPerSlot: 4096, slots: 1, unified: true },
    ...{ kv: [], recurrentBytes: 0, devices: [device], interval: need, bytesPerToken: 0, warnings: [] },
    totalBytes: device.totalBytes,
    ...overallVerdict([device]),
  };
}

function said(memory: MemoryReport, held?: ServerMemory, server = here): string | undefined {
  const beside = besideServer({ server, memory: known(memory), ...(held && { held }) });
  return beside && `${beside.verdict}: ${formatText(beside.text)}`;
}

describe("too little memory beside a server that runs", () => {
  it("is nothing to reconcile where it fits, or where no server runs", () => {
    expect(said(budget("Host", 4, 16))).toBeUndefined();
    const server = unknown(say`no server`, say`Start one.`);
    expect(besideServer({ server, memory: known(budget("Host", 20, 16)) })).toBeUndefined();
  });

  it("is tight where little remains, with what the process holds", () => {
    const held = { pid: 7, residentBytes: 2 * GiB, devices: [{ name: "CUDA0", bytes: 22 * GiB }] };
    expect(said(budget("CUDA0", 22.5, 23), held)).toBe(
      "tight: llama-server runs; 512 MiB of CUDA0 remains free beside it, less than the 1.0 GiB to keep free (measured: 22.0 GiB of CUDA0 and 2.0 GiB of host memory).",
    );
  });

  it.each([
    // a Radeon of 16 GiB whose driver moves what does not fit into GTT
    [
      "Vulkan0",
      { devices: [{ name: "Vulkan0", bytes: 15 * GiB }] },
      /^tight: .*15\.0 GiB of Vulkan0.*host memory/,
    ],
    ["Vulkan0", {}, /its driver may keep a part in host memory/],
    [
      "Host",
      { swappedBytes: 5 * GiB },
      /holds 9\.0 GiB of host memory and 5\.0 GiB in swap: what is swapped out/,
    ],
    ["Host", { swappedBytes: 0 }, /holds 9\.0 GiB of host memory: the rest is mapped from the model's file/],
  ])("is tight and says why it runs where %s has less than is needed: %o", (name, more, sentence) => {
    const memory = budget(name, 20, 16);
    expect(memory.verdict).toBe("exceeds");
    expect(said(memory, { pid: 7, residentBytes: 9 * GiB, ...more })).toMatch(sentence);
    expect(said(memory, { pid: 7, residentBytes: 9 * GiB, ...more })).toMatch(
      /lacks 4\.0 GiB, but llama-server runs/,
    );
  });

  it("names every cause where nobody can look at the process", () => {
    expect(said(budget("Host", 20, 16))).toMatch(
      /mapped, swapped out or shared, or the calculation is too high\.$/,
    );
  });

  it("says nothing about another machine's memory", () => {
    const elsewhere = known({ url: "http://192.168.1.20:8080" });
    expect(said(budget("Host", 20, 16), undefined, elsewhere)).toMatch(
      /^unknown: llama-server runs on another machine/,
    );
  });

  it("is never shown as more than tight in bars and tables", () => {
    const beside = besideServer({ server: here, memory: known(budget("Host", 20, 16)) });
    expect(
      (["exceeds", "tight", "fits", "unknown"] as const).map((each) => shownVerdict(each, beside)),
    ).toEqual(["tight", "tight", "fits", "unknown"]);
    expect(shownVerdict("exceeds", undefined)).toBe("exceeds");
  });
});
