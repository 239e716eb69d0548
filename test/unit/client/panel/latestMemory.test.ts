import { describe, expect, it } from "vitest";
import { Emitter } from "../../../../src/client/editor/lifecycle";
import { LatestMemory } from "../../../../src/client/panel/latestMemory";
import type { LiveMemory } from "../../../../src/core/memory/devices/liveMemory";
import type { GaugeReport } from "../../../../src/core/report/gaugeReport";
import type { GaugeState } from "../../../../src/core/report/gaugeState";
import { everythingKnown, nothingKnown } from "../../../support/sampleReports";

const memory = (at: number): LiveMemory => ({
  at,
  devices: [],
  host: { name: "Host", totalBytes: 2, freeBytes: 1 },
});

/** A machine and a window the test moves. */
class Desk {
  readonly changes = new Emitter<GaugeState>();
  readonly urls: (string | undefined)[] = [];
  state: GaugeState = { status: "idle" };
  now = 1000;
  seen = true;
  answer: () => Promise<LiveMemory> = () => Promise.resolve(memory(this.now));
  readonly shown: number[] = [];
  readonly look: LatestMemory;

  constructor() {
    const gauge = { onDidChange: this.changes.event, state: this.state };
    Object.defineProperty(gauge, "state", { get: () => this.state });
    this.look = new LatestMemory({
      gauge,
      machine: {
        memory: (url) => {
          this.urls.push(url);
          return this.answer();
        },
        watchMemory: (_, show) => {
          show(memory(7));
          return Promise.resolve({ dispose: () => undefined });
        },
      },
      isSeen: () => this.seen,
      now: () => this.now,
    });
    this.look.onDidChange(({ at }) => this.shown.push(at));
  }

  async report(report: GaugeReport): Promise<void> {
    this.state = { status: "ready", report, stale: false };
    this.changes.fire(this.state);
    await Promise.resolve();
    await Promise.resolve();
  }
}

describe("the last look at memory", () => {
  it("is made once for each estimate, at the process of its server", async () => {
    const desk = new Desk();
    const report = everythingKnown();
    await desk.report(report);
    await desk.report(report);
    expect(desk.urls).toEqual([report.server.known ? report.server.value.url : ""]);
    expect(desk.look.value?.at).toBe(1000);
    await desk.report({ ...report, revision: report.revision + 1 });
    expect(desk.urls).toHaveLength(2);
  });

  it("is made again where the window is looked at again and the last one is old", async () => {
    const desk = new Desk();
    await desk.report(everythingKnown());
    desk.now += 10_000;
    desk.look.resume();
    expect(desk.urls).toHaveLength(1);
    desk.now += 30_000;
    desk.look.resume();
    expect(desk.urls).toHaveLength(2);
  });

  it("is not made where nobody looks, or where there is no budget to show it beside", async () => {
    const desk = new Desk();
    desk.seen = false;
    await desk.report(everythingKnown());
    desk.seen = true;
    await desk.report(nothingKnown());
    desk.look.resume();
    expect(desk.urls).toEqual([]);
    expect(desk.look.value).toBeUndefined();
  });

  it("is what the panel measured last while that is seen", async () => {
    const desk = new Desk();
    const passed: number[] = [];
    await desk.look.watch(undefined, ({ at }) => passed.push(at));
    expect([passed, desk.shown, desk.look.value?.at]).toEqual([[7], [7], 7]);
  });

  it("stays what it was where measuring fails", async () => {
    const desk = new Desk();
    await desk.report(everythingKnown());
    desk.answer = () => Promise.reject(new Error("gone"));
    await desk.report({ ...everythingKnown(), revision: 99 });
    expect(desk.look.value?.at).toBe(1000);
  });
});
