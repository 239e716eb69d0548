import { describe, expect, it } from "vitest";
import type { Estimate, EstimateRequest, Estimates } from "../../../../src/app/estimates";
import { Gauge } from "../../../../src/client/estimate/gauge";
import type { EstimateProgress, GaugeState } from "../../../../src/core/report/gaugeState";
import type { GaugeReport } from "../../../../src/core/report/gaugeReport";
import { say } from "../../../../src/core/text";
import { UserError } from "../../../../src/core/userError";
import { sampleReport } from "../../../support/sampleReports";
import { sampleSettings } from "../../../support/sampleSettings";
import { sampleSituation } from "../../../support/sampleSituation";

interface Call {
  readonly request: EstimateRequest;
  readonly signal: AbortSignal;
  readonly progress: (progress: EstimateProgress) => void;
  readonly finish: (report: GaugeReport) => void;
  readonly fail: (error: unknown) => void;
}

/** A gauge whose estimates end when the test says so; as real ones do, they end with an abort after the signal. */
function slowGauge(now: () => number = () => 0): { gauge: Gauge; calls: Call[]; states: GaugeState[] } {
  const calls: Call[] = [];
  const estimate: Estimates["estimate"] = (request, progress, signal) =>
    new Promise((resolve, fail) => {
      calls.push({ request, signal, progress, finish: (report) => resolve(made(report)), fail });
      signal.addEventListener("abort", () => fail(new DOMException("aborted", "AbortError")));
    });
  const gauge = new Gauge({ estimate }, now);
  const states: GaugeState[] = [];
  gauge.onDidChange((state) => states.push(state));
  return { gauge, calls, states };
}

const made = (report: GaugeReport, situation = sampleSituation()): Estimate => ({
  ...{ report, situation, settings: sampleSettings() },
});
const request = (label: string): EstimateRequest => ({ label, roots: [`/${label}`] });
const counted = (filesDone: number): EstimateProgress => ({
  stage: "counting",
  filesDone,
  filesFound: 10,
  tokens: 100 * filesDone,
});
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("Gauge", () => {
  it("counts, then shows the report under its own revisions", async () => {
    const { gauge, calls, states } = slowGauge();
    const first = gauge.estimate(request("a"));
    expect(gauge.state.status).toBe("counting");
    calls[0]?.finish(sampleReport({ revision: 77 }));
    expect(await first).toMatchObject({ kind: "done", report: { revision: 1 } });
    const second = gauge.estimate(request("a"));
    calls[1]?.finish(sampleReport({ revision: 77 }));
    await second;
    expect(states.map(({ status }) => status)).toEqual(["counting", "ready", "counting", "ready"]);
    expect(gauge.state).toMatchObject({ status: "ready", stale: false, report: { revision: 2 } });
  });

  it("keeps the last report on show while a newer one is made and when that fails", async () => {
    const { gauge, calls } = slowGauge();
    const first = gauge.estimate(request("a"));
    calls[0]?.finish(sampleReport());
    await first;
    const second = gauge.estimate(request("b"));
    expect(gauge.state).toMatchObject({ status: "counting", last: { revision: 1 } });
    const error = new UserError("refused", say`No answer.`, say`Start it.`);
    calls[1]?.fail(error);
    expect(await second).toEqual({ kind: "failed", error });
    expect(gauge.state).toMatchObject({
      status: "failed",
      failure: { problem: say`No answer.`, remedy: say`Start it.` },
      last: { revision: 1 },
    });
  });

  it("aborts for a newer request, and runs only the newest of those that wait", async () => {
    const { gauge, calls } = slowGauge();
    const outcomes = [
      gauge.estimate(request("a")),
      gauge.estimate(request("b")),
      gauge.estimate(request("c")),
    ];
    expect(calls[0]?.signal.aborted).toBe(true);
    await tick();
    expect(calls.map((call) => call.request.label)).toEqual(["a", "c"]);
    calls[1]?.finish(sampleReport());
    expect((await Promise.all(outcomes)).map(({ kind }) => kind)).toEqual(["cancelled", "cancelled", "done"]);
    expect(gauge.request?.label).toBe("c");
  });

  it("never runs two estimates at once, also when the aborted one is slow to end", async () => {
    const calls: { readonly end: () => void }[] = [];
    const gauge = new Gauge(
      {
        estimate: () => new Promise((resolve) => calls.push({ end: () => resolve(made(sampleReport())) })),
      },
      () => 0,
    );
    const first = gauge.estimate(request("a"));
    const second = gauge.estimate(request("b"));
    await tick();
    expect(calls).toHaveLength(1);
    calls[0]?.end();
    expect(await first).toEqual({ kind: "cancelled" });
    expect(calls).toHaveLength(2);
    calls[1]?.end();
    expect(await second).toMatchObject({ kind: "done" });
  });

  it("goes back to what it knew when cancelled", async () => {
    const { gauge, calls } = slowGauge();
    const nothing = gauge.estimate(request("a"));
    gauge.cancel();
    expect(await nothing).toEqual({ kind: "cancelled" });
    expect(gauge.state).toEqual({ status: "idle" });
    const first = gauge.estimate(request("a"));
    calls[1]?.finish(sampleReport());
    await first;
    const second = gauge.estimate(request("b"));
    gauge.markStale();
    gauge.cancel();
    await second;
    expect(gauge.state).toMatchObject({ status: "ready", report: { revision: 1 }, stale: true });
  });

  it("does not take a report that arrives after the abort", async () => {
    let finish: (estimate: Estimate) => void = () => undefined;
    const gauge = new Gauge({ estimate: () => new Promise((resolve) => (finish = resolve)) }, () => 0);
    const outcome = gauge.estimate(request("a"));
    gauge.cancel();
    finish(made(sampleReport()));
    expect(await outcome).toEqual({ kind: "cancelled" });
    expect(gauge.state).toEqual({ status: "idle" });
  });

  it("shows progress ten times a second at most", async () => {
    let now = 0;
    const { gauge, calls, states } = slowGauge(() => now);
    const outcome = gauge.estimate(request("a"));
    for (now = 0; now < 1000; now += 10) calls[0]?.progress(counted(now / 100));
    expect(states.filter(({ status }) => status === "counting")).toHaveLength(10);
    calls[0]?.finish(sampleReport());
    await outcome;
    expect(states.at(-1)?.status).toBe("ready");
  });

  it("says that a bug is a bug", async () => {
    const { gauge, calls } = slowGauge();
    const outcome = gauge.estimate(request("a"));
    calls[0]?.fail(new TypeError("x is not a function"));
    await outcome;
    expect(gauge.state).toMatchObject({
      status: "failed",
      failure: { problem: { text: "Internal error in Llama Gauge." } },
    });
  });

  it("ends with the window: aborts, and takes nothing more", async () => {
    const { gauge, calls, states } = slowGauge();
    const outcome = gauge.estimate(request("a"));
    gauge.dispose();
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(await outcome).toEqual({ kind: "cancelled" });
    expect(await gauge.estimate(request("b"))).toEqual({ kind: "cancelled" });
    expect(states).toHaveLength(1);
  });
});
