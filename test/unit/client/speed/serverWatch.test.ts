import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ServerWatch } from "../../../../src/client/speed/serverWatch";
import { Emitter } from "../../../../src/client/editor/lifecycle";
import type { SlotProgress } from "../../../../src/core/bench/slotProgress";
import type { ServerActivity } from "../../../../src/core/bench/serverActivity";
import type { PromptCounters } from "../../../../src/core/bench/serverMetrics";
import { known } from "../../../../src/core/known";
import type { LivePrefill } from "../../../../src/core/prefill/livePrefill";
import type { RequestTiming } from "../../../../src/core/prefill/liveTimings";
import type { GaugeReport } from "../../../../src/core/report/gaugeReport";
import type { GaugeState } from "../../../../src/core/report/gaugeState";
import { sampleReport } from "../../../support/sampleReports";

const idle: SlotProgress = { id: 0, busy: false, promptTokens: 0, cached: 0, processed: 0, generated: 0 };
const reads = (processed: number): SlotProgress => ({ ...idle, busy: true, task: 1, processed });
const counters = (promptTokens: number, promptSeconds: number): PromptCounters => ({
  promptTokens,
  promptSeconds,
  cachedTokens: 0,
  generatedTokens: 0,
  generationSeconds: 0,
  processing: 0,
});

/** The watch with a server whose answers the test gives. */
class Bench {
  readonly changes = new Emitter<GaugeState>();
  state: GaugeState = { status: "idle" };
  readonly shown: (LivePrefill | undefined)[] = [];
  readonly learned: RequestTiming[] = [];
  looks = 0;
  seen = true;
  measuring = false;
  answer: (asksCounters: boolean) => Omit<ServerActivity, "at"> | undefined = () => ({ slots: [idle] });
  readonly live: ServerWatch;

  constructor() {
    const gauge = { onDidChange: this.changes.event } as {
      onDidChange: Emitter<GaugeState>["event"];
      state: GaugeState;
    };
    Object.defineProperty(gauge, "state", { get: () => this.state });
    const measurements = {
      live: (live: LivePrefill | undefined) => void this.shown.push(live),
      measuring: false,
    };
    Object.defineProperty(measurements, "measuring", { get: () => this.measuring });
    this.live = new ServerWatch({
      gauge,
      measurements,
      look: (asksCounters) => {
        this.looks++;
        const found = this.answer(asksCounters);
        return Promise.resolve(found && { ...found, at: Date.now() / 1000 });
      },
      learn: (timing) => this.learned.push(timing),
      isSeen: () => this.seen,
      now: Date.now,
    });
  }

  report(changes: Partial<GaugeReport>): void {
    this.state = { status: "ready", report: { ...sampleReport(changes) }, stale: false };
    this.changes.fire(this.state);
  }
}

let bench: Bench;
beforeEach(() => {
  vi.useFakeTimers();
  bench = new Bench();
});
afterEach(() => {
  bench.live.dispose();
  vi.useRealTimers();
});

describe("the watch over a server", () => {
  it("looks at nobody before an estimate, nor at a server that sleeps", async () => {
    await vi.advanceTimersByTimeAsync(60_000);
    const { server } = sampleReport();
    bench.report({ server: server.known ? known({ ...server.value, sleeping: true }) : server });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(bench.looks).toBe(0);
  });

  it("stops while nobody sees it, goes on when somebody does, and ends after ten idle minutes", async () => {
    bench.report({});
    await vi.advanceTimersByTimeAsync(30_000);
    expect(bench.looks).toBeGreaterThanOrEqual(5);
    bench.seen = false;
    await vi.advanceTimersByTimeAsync(3_000);
    const before = bench.looks;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(bench.looks).toBe(before);
    bench.seen = true;
    bench.live.resume();
    await vi.advanceTimersByTimeAsync(15 * 60_000);
    const after = bench.looks;
    expect(after).toBeGreaterThan(before);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(bench.looks).toBe(after);
  });

  it("shows what is read, and learns what was seen of it where the server has no counters", async () => {
    let processed = 0;
    bench.answer = () => ({ slots: [processed < 16_000 ? reads((processed += 1000)) : idle] });
    bench.report({});
    await vi.advanceTimersByTimeAsync(20_000);
    expect(Math.max(...bench.shown.map((live) => live?.processed ?? 0))).toBe(16_000);
    expect(bench.shown.at(-1)).toBeUndefined();
    // a thousand tokens in each second
    expect(bench.learned).toHaveLength(1);
    const [timing] = bench.learned;
    expect((timing?.tokens ?? 0) / (timing?.seconds ?? 1)).toBeCloseTo(1000, -1);
  });

  it("takes the server's own counters for one prompt, once", async () => {
    let processed = 0;
    let busy = false;
    bench.answer = (asks) => ({
      slots: [busy && processed < 16_000 ? reads((processed += 1000)) : idle],
      ...(asks && { counters: processed >= 16_000 ? counters(16_500, 15.2) : counters(500, 1.2) }),
    });
    bench.report({});
    await vi.advanceTimersByTimeAsync(4_000);
    busy = true;
    await vi.advanceTimersByTimeAsync(40_000);
    expect(bench.learned).toEqual([{ cached: 0, tokens: 16_000, seconds: expect.closeTo(14, 6) as number }]);
  });

  it("keeps away while we measure ourselves, and learns nothing of it", async () => {
    let processed = 0;
    bench.answer = () => ({ slots: [reads((processed += 1000))] });
    bench.measuring = true;
    bench.report({});
    await vi.advanceTimersByTimeAsync(30_000);
    expect(bench.looks).toBe(0);
    expect(bench.learned).toEqual([]);
  });

  it("asks no more where the server tells nothing or is gone, until the next estimate", async () => {
    bench.answer = () => ({});
    bench.report({});
    await vi.advanceTimersByTimeAsync(60_000);
    expect(bench.looks).toBe(1);
    bench.report({ revision: 2 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(bench.looks).toBe(2);
  });
});
