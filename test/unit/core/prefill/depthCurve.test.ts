import { describe, expect, it } from "vitest";
import { differingFields, parseDepthCurve } from "../../../../src/core/prefill/depthCurve";
import { UserError } from "../../../../src/core/userError";

const point = { depth: 0, tokens: 512, seconds: 0.9 };

describe("reading a curve", () => {
  it("keeps what the contract names, in order of depth", () => {
    const curve = parseDepthCurve({
      key: { model: "m.gguf", build: "b1", flags: ["-ub", "512"], backend: "CPU" },
      points: [{ depth: 4096, tokens: 512, seconds: 1.4 }, point],
      generation: [{ depth: 0, tokensPerSecond: 17.4 }],
      overheadSeconds: 0.5,
      note: "ignored",
    });
    expect(curve).toEqual({
      key: { model: "m.gguf", build: "b1", flags: "-ub 512", backend: "CPU" },
      points: [point, { depth: 4096, tokens: 512, seconds: 1.4 }],
      generation: [{ depth: 0, tokensPerSecond: 17.4 }],
      overheadSeconds: 0.5,
    });
  });

  it.each([
    [null, /The top level of the curve is not an object/],
    [{ key: {}, points: {} }, /points of the curve is not a list/],
    [{ key: {}, points: [] }, /at least one point/],
    [{ key: {}, points: [{ ...point, seconds: 0 }] }, /points\[0\]\.seconds/],
    [{ key: {}, points: [point, { ...point, depth: -1 }] }, /points\[1\]\.depth/],
    [{ key: {}, points: [{ ...point, tokens: "512" }] }, /points\[0\]\.tokens.*"512"/],
    [{ key: {}, points: [{ ...point, seconds: Number.NaN }] }, /points\[0\]\.seconds/],
    [{ key: {}, points: [point], generation: [{ depth: 0 }] }, /generation\[0\]\.tokensPerSecond.*missing/],
    [{ key: [], points: [point] }, /key of the curve is not an object/],
  ])("refuses %j", (document, message) => {
    expect(() => parseDepthCurve(document)).toThrow(message);
    expect(() => parseDepthCurve(document)).toThrow(UserError);
  });

  it("names the fields in which two keys differ", () => {
    const key = { model: "m", build: "b1", flags: "-ctk f16" };
    expect(differingFields(key, { ...key, build: "b2", flags: "-ctk q8_0" })).toEqual(["build", "flags"]);
  });
});
