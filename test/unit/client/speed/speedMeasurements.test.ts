import { describe, expect, it } from "vitest";
import { SpeedMeasurements } from "../../../../src/client/speed/speedMeasurements";
import { noSpeed, type SpeedState } from "../../../../src/core/report/speedState";
import { say } from "../../../../src/core/text";

const never = new AbortController().signal;
const progress = { phase: "measuring", share: 0.5, remainingSeconds: 9, depth: 4096 } as const;

describe("the measurements on show", () => {
  it("shows plan and progress while one runs, and the history after it", async () => {
    let runs: SpeedState["runs"] = [];
    const measurements = new SpeedMeasurements(() => Promise.resolve({ runs, unreadable: 2 }));
    const states: SpeedState[] = [];
    measurements.onDidChange((state) => states.push(state));
    const result = await measurements.measure(say`Measuring`, never, (report) => {
      expect(measurements.measuring).toBe(true);
      report.plan(say`a minute`);
      report.progress(progress);
      runs = [
        { id: "a", kind: "probe", at: 0, model: "m", build: "", flags: "", verdict: "clean", notes: [] },
      ];
      return Promise.resolve(7);
    });
    expect(result).toBe(7);
    expect(states.at(2)?.running).toEqual({ title: say`Measuring`, plan: say`a minute`, progress });
    expect(measurements.state).toEqual({ runs, unreadable: 2 });
    expect(measurements.measuring).toBe(false);
  });

  it("cancels from the panel and from the caller, and leaves nothing running on a failure", async () => {
    const measurements = new SpeedMeasurements(() => Promise.resolve(noSpeed));
    const untilAborted = (_: unknown, signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    const byPanel = measurements.measure(say`x`, never, untilAborted);
    await expect(measurements.measure(say`y`, never, untilAborted)).rejects.toThrow(/already running/);
    measurements.cancel();
    await expect(byPanel).rejects.toMatchObject({ name: "AbortError" });
    const controller = new AbortController();
    const byCaller = measurements.measure(say`x`, controller.signal, untilAborted);
    controller.abort();
    await expect(byCaller).rejects.toMatchObject({ name: "AbortError" });
    expect(measurements.state.running).toBeUndefined();
  });

  it("sends the panel what it shows, and reads the history when a page is there", async () => {
    const measurements = new SpeedMeasurements(() => Promise.resolve({ runs: [], unreadable: 3 }));
    expect(measurements.message).toEqual({ type: "speed", speed: noSpeed });
    let changes = 0;
    measurements.onDidChange(() => changes++);
    await measurements.pageOpened();
    expect(changes).toBe(1);
    expect(measurements.message).toEqual({ type: "speed", speed: { runs: [], unreadable: 3 } });
  });

  it("gives up reading when it is disposed", async () => {
    const signals: AbortSignal[] = [];
    const measurements = new SpeedMeasurements((signal) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    });
    const reading = measurements.refresh();
    measurements.dispose();
    await reading;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(measurements.state).toBe(noSpeed);
  });

  it("has no runs to show where the history cannot be read", async () => {
    const measurements = new SpeedMeasurements(() => Promise.reject(new Error("torn")));
    await measurements.refresh();
    expect(measurements.state).toEqual(noSpeed);
  });
});
