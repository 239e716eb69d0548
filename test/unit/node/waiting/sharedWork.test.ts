import { describe, expect, it } from "vitest";
import { SharedWork } from "../../../../src/node/waiting/sharedWork";

/** Work that ends when it is told to, or with its signal. */
function begin(): { work: SharedWork<string>; finish: (result: string) => void; fail: (why: Error) => void } {
  let finish = (_: string): void => undefined;
  let fail = (_: Error): void => undefined;
  const promise = new Promise<string>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  const work = new SharedWork((signal) => {
    signal.addEventListener("abort", () => fail(signal.reason as Error));
    return promise;
  });
  return { work, finish, fail };
}

describe("work that several wait for", () => {
  it("goes on for the others when one gives up", async () => {
    const { work, finish } = begin();
    const hasty = new AbortController();
    const first = work.result(hasty.signal);
    const second = work.result(new AbortController().signal);
    hasty.abort();
    await expect(first).rejects.toBe(hasty.signal.reason);
    expect(work.abandoned).toBe(false);
    finish("done");
    expect(await second).toBe("done");
    expect(await work.result(new AbortController().signal)).toBe("done");
    expect(work.abandoned).toBe(false);
  });

  it("is ended when nobody waits any more", async () => {
    const { work } = begin();
    const both = new AbortController();
    const results = [work.result(both.signal), work.result(both.signal)];
    both.abort();
    for (const result of results) await expect(result).rejects.toBe(both.signal.reason);
    expect(work.abandoned).toBe(true);
  });

  it("fails for everybody with its own error", async () => {
    const { work, fail } = begin();
    const results = [1, 2].map(() => work.result(new AbortController().signal));
    fail(new Error("broken"));
    for (const result of results) await expect(result).rejects.toThrow("broken");
    expect(work.abandoned).toBe(false);
  });
});
