import { expect, it } from "vitest";
import { append, largest, smallest } from "../../../src/core/lists";

it("long lists have ends, too", () => {
  const long = Array.from({ length: 300_000 }, (_, i) => i);
  expect(() => Math.max(...long)).toThrow(RangeError);
  expect([largest(long), smallest(long)]).toEqual([299_999, 0]);
  const list = [-1];
  append(list, long);
  expect(list.length).toBe(300_001);
});

it("empty ones have what was given, or none", () => {
  expect([largest([]), smallest([]), largest([], 0), smallest([2], 1)]).toEqual([-Infinity, Infinity, 0, 1]);
});
