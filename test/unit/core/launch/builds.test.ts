import { describe, expect, it } from "vitest";
import { buildHas, buildNumber } from "../../../../src/core/launch/builds";

describe("buildNumber", () => {
  it.each([
    ["b11669-Debian", 11_669],
    ["b7433-abc1234", 7433],
    ["11669", 11_669],
    ["Debian (11669)", 11_669],
    ["unknown", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("of %j is %s", (info, expected) => {
    expect(buildNumber(info)).toBe(expected);
  });
});

it("takes an unknown build for a current one", () => {
  // -fit came with b7407 (common/arg.cpp)
  expect(buildHas(7406, "fit")).toBe(false);
  expect(buildHas(7407, "fit")).toBe(true);
  expect(buildHas(undefined, "fit")).toBe(true);
});
