import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { errorCode, within } from "../../../../src/node/waiting/within";
import { Pace } from "../../../../src/node/files/pace";

const pending = (): Promise<never> => new Promise(() => undefined);

describe("within", () => {
  it("gives what the work gives, or its error", async () => {
    const { signal } = new AbortController();
    await expect(within(Promise.resolve(7), 1000, signal)).resolves.toBe(7);
    await expect(within(Promise.reject(new Error("EIO")), 1000, signal)).rejects.toThrow("EIO");
  });

  it("ends with the time limit where nothing answers, as an error of the system", async () => {
    const error = await within(pending(), 10, new AbortController().signal).catch(
      (caught: unknown) => caught,
    );
    expect(errorCode(error)).toBe("ETIMEDOUT");
  });

  it("ends at once with the signal, before and during the work, for any number of calls", async () => {
    const controller = new AbortController();
    const calls = Array.from({ length: 50 }, () => within(pending(), 60_000, controller.signal));
    controller.abort(new Error("cancelled"));
    const results = await Promise.allSettled(calls);
    expect(results.every((result) => result.status === "rejected")).toBe(true);
    await expect(within(pending(), 60_000, controller.signal)).rejects.toThrow("cancelled");
  });

  it("leaves no timer behind", async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const controller = new AbortController();
    await Promise.all(Array.from({ length: 20 }, () => within(Promise.resolve(), 60_000, controller.signal)));
    expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(before);
  });
});

describe("Pace", () => {
  let clock = 0;
  const call = (pace: Pace, milliseconds: number): void => pace.time(() => void (clock += milliseconds));

  beforeEach(() => {
    clock = 0;
    vi.spyOn(performance, "now").mockImplementation(() => clock);
  });

  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("goes through the pool after three slow calls, and tries again later", () => {
    const pace = new Pace();
    for (let calls = 0; calls < 3; calls++) {
      expect(pace.direct()).toBe(true);
      call(pace, 10);
    }
    expect(pace.direct()).toBe(false);
    let waits = 0;
    while (!pace.direct()) waits++;
    expect(waits).toBeGreaterThan(50);
    expect(waits).toBeLessThan(1000);
  });

  it("stays direct while calls answer at once, a rare slow one included", () => {
    const pace = new Pace();
    for (let calls = 0; calls < 5000; calls++) {
      expect(pace.direct()).toBe(true);
      call(pace, calls % 500 === 0 ? 10 : 0.02);
    }
  });
});
