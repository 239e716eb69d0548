import { readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { planned } from "../../../../src/client/conversation/conversationPart";
import { ConversationWatch } from "../../../../src/client/conversation/conversationWatch";
import { Emitter } from "../../../../src/client/editor/lifecycle";
import { LedgerReader } from "../../../../src/core/conversation/ledger";
import { Showing } from "../../../../src/core/conversation/showing";
import { serverKey, type LedgerUpdate } from "../../../../src/core/conversation/source";
import type { LivePrefill } from "../../../../src/core/prefill/livePrefill";
import type { RequestTiming } from "../../../../src/core/prefill/liveTimings";
import type { GaugeReport } from "../../../../src/core/report/gaugeReport";
import type { GaugeState } from "../../../../src/core/report/gaugeState";
import { sampleReport } from "../../../support/sampleReports";

/** A real log of two long prompts, and the place where the first of them is half read. */
const text = readFileSync(
  path.join(import.meta.dirname, "../../../fixtures/logs/conversation/long-prompts.log"),
  "utf8",
);
const lines = text.split("\n");
const half = lines.findIndex((line) => line.includes("progress = 0.68")) + 1;

/** The watch with a log whose lines the test gives. */
class Bench {
  readonly changes = new Emitter<GaugeState>();
  state: GaugeState = { status: "idle" };
  readonly live: (LivePrefill | undefined)[] = [];
  readonly learned: RequestTiming[] = [];
  wanted = true;
  measuring = false;
  followed = 0;
  source: LedgerUpdate["source"] = {
    ...{ kind: "commandLine", file: "/logs/server.log" },
    ...{ url: serverUrl },
  };
  private reader = new LedgerReader();
  private show: ((update: LedgerUpdate) => void) | undefined;
  readonly watch: ConversationWatch;

  constructor() {
    const gauge = Object.defineProperty({ onDidChange: this.changes.event, state: this.state }, "state", {
      get: () => this.state,
    });
    const measurements = Object.defineProperty(
      { live: (live: LivePrefill | undefined) => void this.live.push(live), measuring: false },
      "measuring",
      { get: () => this.measuring },
    );
    this.watch = new ConversationWatch({
      gauge,
      measurements,
      loadShowing: () => Promise.resolve(new Showing()),
      follow: (show) => {
        this.followed++;
        this.show = show;
        return Promise.resolve({ dispose: () => (this.show = undefined) });
      },
      learn: (timing) => this.learned.push(timing),
      isWanted: () => this.wanted,
      now: Date.now,
    });
  }

  report(changes: Partial<GaugeReport> = {}): void {
    this.state = { status: "ready", report: sampleReport(changes), stale: false };
    this.changes.fire(this.state);
  }

  /** The log grows; its last line was written now. */
  write(more: readonly string[]): void {
    for (const line of more) this.reader.readText(line);
    const ledger = this.reader.result();
    const server = ledger.servers.at(-1);
    const startedAt = new Map(
      server === undefined ? [] : [[serverKey(server), Date.now() - 1000 * (server.lastSeconds ?? 0)]],
    );
    this.show?.({ ...(this.source !== undefined && { source: this.source }), ledger, startedAt });
  }

  tell(update: LedgerUpdate): void {
    this.show?.(update);
  }

  get isFollowed(): boolean {
    return this.show !== undefined;
  }
}

const { server: sampleServer } = sampleReport();
const serverUrl = sampleServer.known ? sampleServer.value.url : "";

let bench: Bench;
beforeEach(() => {
  vi.useFakeTimers();
  bench = new Bench();
});
afterEach(() => {
  bench.watch.dispose();
  vi.useRealTimers();
});

describe("the watch over a server's log", () => {
  it("follows it only while somebody wants it", async () => {
    bench.wanted = false;
    bench.watch.update();
    expect(bench.isFollowed).toBe(false);
    bench.wanted = true;
    bench.watch.update();
    bench.watch.update();
    await vi.advanceTimersByTimeAsync(0);
    expect(bench.followed).toBe(1);
    bench.wanted = false;
    bench.watch.update();
    await vi.advanceTimersByTimeAsync(0);
    expect(bench.isFollowed).toBe(false);
  });

  it("shows the prompt that is read, counts down between lines, and stops when nobody looks", async () => {
    bench.watch.update();
    await vi.advanceTimersByTimeAsync(0);
    bench.write(lines.slice(0, half));
    const first = bench.live.at(-1);
    expect(first).toMatchObject({ processed: 6144, assumed: false });
    // of 9,000 tokens, as the answer said in the end
    expect(Math.abs((first?.total ?? 0) / 9000 - 1)).toBeLessThan(0.01);
    await vi.advanceTimersByTimeAsync(3000);
    const later = bench.live.at(-1);
    if (first?.remaining.known !== true || later?.remaining.known !== true) throw new Error("not known");
    expect(first.remaining.seconds - later.remaining.seconds).toBeCloseTo(3, 1);
    expect(later.quietSeconds).toBeCloseTo(3, 0);
    bench.wanted = false;
    await vi.advanceTimersByTimeAsync(1000);
    expect(bench.live.at(-1)).toBeUndefined();
    const drawn = bench.live.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(bench.live).toHaveLength(drawn);
  });

  it("gives a prompt up whose server has been silent for a quarter of an hour", async () => {
    bench.watch.update();
    await vi.advanceTimersByTimeAsync(0);
    bench.write(lines.slice(0, half));
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(bench.live.at(-1)?.quietSeconds).toBeCloseTo(600, -1);
    await vi.advanceTimersByTimeAsync(6 * 60_000);
    expect(bench.live.at(-1)).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("learns from prompts of the estimated server that end while it looks, once", async () => {
    bench.report();
    await vi.advanceTimersByTimeAsync(0);
    bench.write(lines.slice(0, half));
    expect(bench.learned).toEqual([]);
    bench.write(lines.slice(half));
    const read = bench.watch.value.programs[0]?.requests ?? [];
    expect(bench.learned.map(({ cached, tokens, seconds }) => [cached, tokens, seconds])).toEqual(
      read
        .filter(({ readTokens = 0 }) => readTokens >= 512)
        .map(({ cachedTokens, readTokens, prefillSeconds }) => [cachedTokens, readTokens, prefillSeconds]),
    );
    const before = bench.learned.length;
    bench.write([]);
    expect(bench.learned).toHaveLength(before);
  });

  it.each<[string, (its: Bench) => void]>([
    [
      "another server than the estimated one",
      (its) => (its.source = { kind: "commandLine", file: "/x", url: "http://127.0.0.1:9" }),
    ],
    ["a log that was chosen", (its) => (its.source = { kind: "chosenLog", file: "/x" })],
    ["our own measurement", (its) => (its.measuring = true)],
  ])("learns nothing from %s", async (_, change) => {
    bench.report();
    await vi.advanceTimersByTimeAsync(0);
    change(bench);
    bench.write(lines.slice(0, half));
    bench.write(lines.slice(half));
    expect(bench.learned).toEqual([]);
  });

  it("shows what slots told where there is no log, and the log as soon as there is one", async () => {
    bench.report();
    await vi.advanceTimersByTimeAsync(0);
    bench.tell({});
    const slot = { id: 0, busy: true, task: 1, promptTokens: 0, cached: 0, processed: 512, generated: 0 };
    bench.watch.looked({ at: 1, slots: [slot] });
    expect(bench.watch.hasLog).toBe(false);
    expect(bench.watch.value.source).toEqual({ kind: "slots", url: serverUrl });
    bench.tell({});
    expect(bench.watch.value.programs[0]?.running).toHaveLength(1);
    bench.write(lines);
    expect(bench.watch.hasLog).toBe(true);
    bench.watch.looked({ at: 2, slots: [slot] });
    expect(bench.watch.value.source?.kind).toBe("commandLine");
  });
});

it("plans nothing without a model", () => {
  const input = { systemTokens: 1, turnTokens: 1, answerTokens: 1, turns: 1 };
  expect(planned(input, undefined)).toMatchObject({ known: false, input });
});
