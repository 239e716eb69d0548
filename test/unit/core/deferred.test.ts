import { describe, expect, it } from "vitest";
import { deferred } from "../../../src/core/deferred";

class Counter {
  #count = 0;

  add(n: number): Promise<number> {
    this.#count += n;
    return Promise.resolve(this.#count);
  }

  fail(): Promise<never> {
    throw new Error("not at all");
  }
}

describe("something deferred", () => {
  it("is loaded once, when it is first asked, and keeps its state", async () => {
    let loads = 0;
    const counter = deferred(() => {
      loads++;
      return Promise.resolve(new Counter());
    });
    expect(loads).toBe(0);
    expect(await Promise.all([counter.add(1), counter.add(2)])).toEqual([1, 3]);
    expect(loads).toBe(1);
  });

  it("can be handed on by a function that is awaited, and is not loaded by that", async () => {
    let loads = 0;
    const made = await Promise.resolve(
      deferred(() => {
        loads++;
        return Promise.resolve(new Counter());
      }),
    );
    expect(loads).toBe(0);
    expect(await made.add(5)).toBe(5);
  });

  it("rejects where it throws or cannot be loaded, and tries to load again", async () => {
    await expect(deferred(() => Promise.resolve(new Counter())).fail()).rejects.toThrow("not at all");
    let tries = 0;
    const counter = deferred(() =>
      ++tries === 1 ? Promise.reject(new Error("no disk")) : Promise.resolve(new Counter()),
    );
    await expect(counter.add(1)).rejects.toThrow("no disk");
    expect(await counter.add(1)).toBe(1);
  });
});
