import { describe, expect, it } from "vitest";
import { modelName } from "../../../../src/core/report/names";

describe("modelName", () => {
  it.each([
    [{ name: "/models/Qwen3-8B-Q4_K_M.gguf" }, "Qwen3-8B-Q4_K_M"],
    [{ name: "C:\\models\\a b.GGUF" }, "a b"],
    [{ name: "Qwen/Qwen3-8B" }, "Qwen/Qwen3-8B"],
    [{ name: "Qwen3-8B-Q4_K_M.gguf" }, "Qwen3-8B-Q4_K_M"],
  ])("of %j is %s", (summary, shown) => {
    expect(modelName({ ...summary, provenance: "reported" })).toBe(shown);
  });
});
