import { describe, expect, it } from "vitest";
import { visibleName } from "../../../src/core/visibleName";

describe("visibleName", () => {
  it.each([
    ["src/日本語 🦙.md", "src/日本語 🦙.md"],
    ["two\nlines\t.txt", "two␊lines␉.txt"],
    ["invoice\u202etxt.exe", "invoice\ufffdtxt.exe"],
    ["\u0007bell\u007f\u0085", "␇bell␡\ufffd"],
  ])("shows %j as %j", (name, shown) => {
    expect(visibleName(name)).toBe(shown);
  });
});
