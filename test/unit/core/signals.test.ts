import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { withAny } from "../../../src/core/signals";
import { TimeLimitError } from "../../../src/node/waiting/within";
import { withLimit } from "../../../src/node/waiting/withLimit";

const forever = (): Promise<never> => new Promise(() => undefined);

describe("work under several signals", () => {
  it("gives its value, or its error, also one that is thrown at once", async () => {
    const { signal } = new AbortController();
    await expect(withAny([signal], () => Promise.resolve(7))).resolves.toBe(7);
    const failing = (): never => {
      throw new Error("at once");
    };
    await expect(withAny([signal], failing)).rejects.toThrow("at once");
  });

  it("ends with the first signal and tells the work, even where it does not listen", async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    let seen: AbortSignal | undefined;
    const work = withAny([one.signal, other.signal], (signal) => {
      seen = signal;
      return forever();
    });
    await Promise.resolve();
    other.abort(new Error("the other"));
    one.abort(new Error("the one"));
    await expect(work).rejects.toThrow("the other");
    expect(seen?.reason).toMatchObject({ message: "the other" });
  });

  it("does not begin under an aborted signal", async () => {
    let begun = false;
    const work = withAny([AbortSignal.abort(new Error("before"))], () => {
      begun = true;
      return forever();
    });
    await expect(work).rejects.toThrow("before");
    expect(begun).toBe(false);
  });

  it("ends in time although everything unused was collected: AbortSignal.any and timeout do not on Node.js 20", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const work = withLimit(new AbortController().signal, 200, (signal) => withAny([signal], forever));
    const collecting = setInterval(collect, 20);
    await expect(work).rejects.toBeInstanceOf(TimeLimitError);
    clearInterval(collecting);
  });
});
