import { describe, expect, it } from "vitest";
import { modelName } from "../../../../src/core/report/names";

describe("modelName", () => {
  it.each([
    [{ name: "/models/Qwen3-8B-Q4_K_M.gguf" }, "Qwen3-8B-Q4_K_M"],
    [{ name: "C:\\models\\a b.GGUF", quantisation: "Q8_0" }, "a b Q8_0"],
    [{ name: "Qwen/Qwen3-8B", quantisation: "Q4_K_M" }, "Qwen/Qwen3-8B Q4_K_M"],
    [{ name: "Qwen3-8B-Q4_K_M.gguf", quantisation: "Q4_K_M" }, "Qwen3-8B-Q4_K_M"],
  ])("of %j is %s", (summary, shown) => {
    expect(modelName({ ...summary, provenance: "reported" })).toBe(shown);
  });
});
