import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Gauge } from "../../../../src/client/estimate/gauge";
import { LiveRecount } from "../../../../src/client/estimate/liveRecount";
import type { Estimate, EstimateRequest, Estimates } from "../../../../src/app/estimates";
import { sampleReport } from "../../../support/sampleReports";
import { sampleSettings } from "../../../support/sampleSettings";
import { sampleSituation } from "../../../support/sampleSituation";

const request: EstimateRequest = { label: "a", roots: ["/home/ada/harbour"] };
const made = (leftOut?: readonly string[]): Estimate => ({
  report: sampleReport({ ...(leftOut && { leftOut }) }),
  situation: sampleSituation(),
  settings: sampleSettings(),
});
const readme = "/home/ada/harbour/README.md";

let seen = true;
let live: LiveRecount | undefined;
beforeEach(() => {
  vi.useFakeTimers();
  seen = true;
});
afterEach(() => {
  live?.dispose();
  vi.useRealTimers();
});

/** A gauge with a report; each estimate takes `seconds`. */
async function counted(seconds = 0.1): Promise<{ gauge: Gauge; kinds: string[]; leftOut: unknown[] }> {
  const kinds: string[] = [];
  const leftOut: unknown[] = [];
  const estimate: Estimates["estimate"] = async (its, _, signal, former) => {
    kinds.push(former === undefined ? "anew" : "again");
    leftOut.push(its.leftOut);
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    signal.throwIfAborted();
    return made(its.leftOut);
  };
  const gauge = new Gauge({ estimate }, Date.now);
  live = new LiveRecount({ gauge, isSeen: () => seen, now: Date.now });
  const first = gauge.estimate(request);
  await vi.advanceTimersByTimeAsync(1000 * seconds);
  await first;
  return { gauge, kinds, leftOut };
}

describe("counting again by itself", () => {
  it("happens a moment after the last of a series of changes, without showing progress", async () => {
    const { gauge, kinds } = await counted();
    const states: string[] = [];
    gauge.onDidChange(({ status }) => states.push(status));
    for (let i = 0; i < 5; i++) {
      live?.touched();
      await vi.advanceTimersByTimeAsync(200);
    }
    expect(kinds).toEqual(["anew"]);
    await vi.advanceTimersByTimeAsync(600);
    expect(kinds).toEqual(["anew", "again"]);
    expect(states).toEqual(["ready"]);
    expect(gauge.state).toMatchObject({ status: "ready", stale: false, report: { revision: 2 } });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kinds).toHaveLength(2);
  });

  it("does not wait for a series without end, and leaves most of the time free", async () => {
    const { kinds } = await counted(0.5);
    for (let i = 0; i < 200; i++) {
      live?.touched();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(kinds.length).toBeGreaterThan(3);
    expect(kinds.length).toBeLessThan(10);
  });

  it("is left to the user where it takes long", async () => {
    const { gauge, kinds } = await counted(20);
    live?.touched();
    expect(gauge.state).toMatchObject({ status: "ready", stale: true });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kinds).toEqual(["anew"]);
  });

  it("waits until somebody looks", async () => {
    const { gauge, kinds } = await counted();
    seen = false;
    live?.touched();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(kinds).toEqual(["anew"]);
    expect(gauge.state).toMatchObject({ stale: true });
    seen = true;
    live?.seen();
    await vi.advanceTimersByTimeAsync(1000);
    expect(kinds).toEqual(["anew", "again"]);
    expect(gauge.state).toMatchObject({ stale: false });
  });

  it("makes another choice of files exact", async () => {
    const { gauge, leftOut } = await counted();
    gauge.choose([readme]);
    expect(gauge.state).toMatchObject({ report: { leftOut: [readme], acceptance: { exact: false } } });
    await vi.advanceTimersByTimeAsync(1000);
    expect(leftOut).toEqual([undefined, [readme]]);
    expect(gauge.state).toMatchObject({ report: { leftOut: [readme], acceptance: { exact: true } } });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(leftOut).toHaveLength(2);
  });

  it("takes the newest of two choices", async () => {
    const { gauge, leftOut } = await counted(0.5);
    gauge.choose([readme]);
    await vi.advanceTimersByTimeAsync(600);
    gauge.choose([]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(leftOut).toEqual([undefined, [readme], []]);
    expect(gauge.state).toMatchObject({ status: "ready", report: { acceptance: { exact: true } } });
  });
});

describe("a change while an estimate is under way", () => {
  it("makes its report stale: nobody knows whether it has seen it", async () => {
    const { gauge } = await counted(1);
    const again = gauge.estimate(request);
    await vi.advanceTimersByTimeAsync(500);
    gauge.markStale();
    await vi.advanceTimersByTimeAsync(1000);
    expect(await again).toMatchObject({ kind: "done" });
    expect(gauge.state).toMatchObject({ status: "ready", stale: true });
  });
});

describe("Gauge.recount", () => {
  it("gives way to an estimate, and does nothing where nothing is known", async () => {
    const { gauge, kinds } = await counted(1);
    const again = gauge.recount();
    const anew = gauge.estimate(request);
    expect(await gauge.recount()).toEqual({ kind: "cancelled" });
    await vi.advanceTimersByTimeAsync(2000);
    expect(await again).toEqual({ kind: "cancelled" });
    expect(await anew).toMatchObject({ kind: "done" });
    expect(kinds).toEqual(["anew", "again", "anew"]);
    const empty = new Gauge({ estimate: () => Promise.reject(new Error("asked")) }, Date.now);
    expect(await empty.recount()).toEqual({ kind: "cancelled" });
  });

  it("makes the report stale where it fails", async () => {
    let fails = false;
    const gauge = new Gauge(
      { estimate: () => (fails ? Promise.reject(new Error("gone")) : Promise.resolve(made())) },
      Date.now,
    );
    await gauge.estimate(request);
    fails = true;
    expect(await gauge.recount()).toMatchObject({ kind: "failed" });
    expect(gauge.state).toMatchObject({ status: "ready", stale: true });
  });
});
