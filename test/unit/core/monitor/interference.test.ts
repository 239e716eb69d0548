import { describe, expect, it } from "vitest";
import { eventText, judgeSamples } from "../../../../src/core/monitor/interference";
import type { MonitorSample } from "../../../../src/core/monitor/monitorSample";
import { foreignUseTexts } from "../../../../src/core/monitor/foreignUse";
import { formatText } from "../../../../src/core/format";

const rules = { baselineSamples: 3, usesCpu: true, intervalSeconds: 2 };

/** Two minutes of a quiet machine, changed where a test says so. */
function watch(change: (i: number) => Partial<MonitorSample> = () => ({})): readonly MonitorSample[] {
  return Array.from({ length: 60 }, (_, i) => ({
    at: 2 * i,
    foreignCpu: i % 2 === 0 ? 0.03 : 0.05,
    clockMhz: 3500 + (i % 5) * 20,
    onBattery: false,
    ...change(i),
  }));
}

const between = (i: number, from: number, to: number): boolean => i >= from && i < to;

describe("the verdict of the watch", () => {
  it("is clean on a quiet machine", () => {
    expect(judgeSamples(watch(), rules)).toMatchObject({
      verdict: "clean",
      events: [],
      foreignCpuBefore: 0.03,
    });
  });

  it("names who took the CPU, when and how much", () => {
    const report = judgeSamples(
      watch((i) =>
        between(i, 20, 30)
          ? {
              foreignCpu: 0.4,
              busiest: [
                { pid: 7, name: "cargo", cpu: 0.35 },
                { pid: 8, name: "code", cpu: 0.02 },
              ],
            }
          : {},
      ),
      rules,
    );
    expect(report.verdict).toBe("contaminated");
    expect(report.events).toMatchObject([{ kind: "foreignCpu", fromSeconds: 40, toSeconds: 58 }]);
    expect(formatText(eventText(report.events[0] ?? never()))).toBe(
      "cargo (7), code (8) and others used 40 % of the CPU from 40 s to 58 s",
    );
  });

  it("gives figures of what others used: median, maximum, and who", () => {
    const report = judgeSamples(
      watch((i) => ({
        // before the measurement, which is not counted
        ...(i < 3 && { foreignCpu: 0.9 }),
        ...(i === 30 && { foreignCpu: 0.115 }),
        busiest: [
          { pid: 7, name: "code", cpu: 0.02 },
          { pid: 0, name: "short-lived processes", cpu: 0.01 },
        ],
        foreignGpu: i === 40 ? 0.047 : 0,
        gpuBusiest: i === 40 ? [{ pid: 9, name: "Xorg", share: 0.047 }] : [],
      })),
      rules,
    );
    expect(report.verdict).toBe("clean");
    expect(report.cpu).toMatchObject({ median: 0.05, max: 0.115 });
    expect(foreignUseTexts(report).map((text) => formatText(text))).toEqual([
      "Others used 5.0 % of the CPU (at most 12 %): code (7) 2.0 %, short-lived processes 1.0 %.",
      "Others used 0.0 % of the GPU (at most 4.7 %).",
    ]);
    expect(judgeSamples([], rules).cpu).toBeUndefined();
    expect(foreignUseTexts({})).toEqual([]);
  });

  it("lets a single spike pass, and five points only where the model computes on the GPU", () => {
    expect(
      judgeSamples(
        watch((i) => (i === 20 ? { foreignCpu: 0.9 } : {})),
        rules,
      ).verdict,
    ).toBe("clean");
    const small = watch((i) => (between(i, 20, 30) ? { foreignCpu: 0.1 } : {}));
    expect(judgeSamples(small, rules).verdict).toBe("contaminated");
    expect(judgeSamples(small, { ...rules, usesCpu: false }).verdict).toBe("clean");
  });

  it("needs no second sample in a run that is too short for one", () => {
    const busy = watch((i) => (i >= 3 ? { foreignCpu: 0.8 } : {}));
    expect(judgeSamples(busy.slice(0, 4), rules).verdict).toBe("contaminated");
    expect(judgeSamples(watch().slice(0, 4), rules).verdict).toBe("clean");
  });

  it("does not take a machine that was busy all along for a quiet one", () => {
    const report = judgeSamples(
      watch(() => ({ foreignCpu: 0.5 })),
      rules,
    );
    expect(report.verdict).toBe("contaminated");
    expect(report.foreignCpuBefore).toBe(0.5);
  });

  it("sees a llama-server that was started in between, and none that was there before", () => {
    const server = { pid: 99, name: "llama-server" };
    expect(
      judgeSamples(
        watch(() => ({ otherLlama: [server] })),
        rules,
      ).verdict,
    ).toBe("clean");
    const report = judgeSamples(
      watch((i) => ({ otherLlama: i >= 50 ? [server] : [] })),
      rules,
    );
    expect(report).toMatchObject({
      verdict: "contaminated",
      events: [{ kind: "otherLlama", who: [server] }],
    });
  });

  it("tells a changed machine from a foreign load", () => {
    expect(
      judgeSamples(
        watch((i) => (between(i, 30, 40) ? { clockMhz: 2000 } : {})),
        rules,
      ),
    ).toMatchObject({
      verdict: "drift",
      events: [{ kind: "throttled" }],
    });
    expect(
      judgeSamples(
        watch((i) => ({ onBattery: i > 30 })),
        rules,
      ),
    ).toMatchObject({
      verdict: "drift",
      events: [{ kind: "powerChanged", onBattery: true }],
    });
    expect(
      judgeSamples(
        watch((i) => ({ at: 2 * i + (i > 30 ? 600 : 0) })),
        rules,
      ),
    ).toMatchObject({
      verdict: "drift",
      events: [{ kind: "slept", seconds: 600 }],
    });
  });

  it("calls memory that comes back from swap contamination", () => {
    const report = judgeSamples(
      watch((i) => ({ swappedInBytes: i === 40 ? 50e6 : 0 })),
      rules,
    );
    expect(report).toMatchObject({ verdict: "contaminated", events: [{ kind: "swapping", bytes: 50e6 }] });
  });

  it("is not clean where nobody looked", () => {
    expect(judgeSamples([], rules).verdict).toBe("unmonitored");
    expect(
      judgeSamples(
        Array.from({ length: 20 }, (_, i) => ({ at: i })),
        rules,
      ).verdict,
    ).toBe("unmonitored");
  });

  it("finds nearly every injected load of a tenth of the CPU and raises next to no false alarm", () => {
    const random = generator(7);
    const noisy = (): number => 0.02 + 0.02 * random();
    let found = 0;
    for (let trial = 0; trial < 200; trial++) {
      const start = 5 + Math.floor(random() * 45);
      const samples = watch((i) => ({ foreignCpu: noisy() + (between(i, start, start + 5) ? 0.1 : 0) }));
      if (judgeSamples(samples, rules).verdict === "contaminated") found++;
    }
    expect(found).toBeGreaterThanOrEqual(190);
    const quiet = Array.from({ length: 120 }, () =>
      judgeSamples(
        watch(() => ({ foreignCpu: noisy() })),
        rules,
      ),
    );
    expect(quiet.filter((r) => r.verdict !== "clean").length).toBeLessThanOrEqual(2);
  });
});

function never(): never {
  throw new Error("no event");
}

/** Lehmer's generator: the same numbers on every machine. */
function generator(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}
