import { describe, expect, it } from "vitest";
import { formatText } from "../../../../src/core/format";
import {
  canonicalFlags,
  compareSetup,
  flagsLike,
  sameFlags,
} from "../../../../src/core/llamaBench/speedSetup";
import { curvesOf } from "../../../../src/core/llamaBench/benchCurve";
import { parseLlamaBench } from "../../../../src/core/llamaBench/parseLlamaBench";

const key = (flags: string, model = "/models/qwen3.gguf", build = "b11669-Debian") => ({
  model,
  build,
  flags,
});

describe("a setup", () => {
  it("is the same however it is written: llama-server's options, llama-bench's settings, defaults or not", () => {
    expect(sameFlags("-ub 512 -ctk f16 -fa on -ngl 99", "")).toBe(true);
    expect(
      sameFlags(
        "type_k=q8_0 type_v=f16 n_ubatch=256 flash_attn=-1 devices=auto poll=50",
        "-ctk q8_0 -ub 256",
      ),
    ).toBe(true);
    expect(sameFlags("-ctk q8_0", "-ctv q8_0")).toBe(false);
    expect(sameFlags("-fa off", "flash_attn=0")).toBe(true);
    expect(sameFlags("layer-q8", "tensor-q8")).toBe(false);
    expect(canonicalFlags("n_gpu_layers=20")).toBe("-ngl 20");
  });

  it("says what a curve was measured with instead", () => {
    const { differs } = compareSetup(key("type_k=q8_0", "other.gguf", "fe1c5c9 (9000)"), key("-ub 256"));
    expect(differs.map((text) => formatText(text))).toEqual([
      "other instead of qwen3",
      "build fe1c5c9 (9000) instead of b11669-Debian",
      "-ctk q8_0 instead of the default",
      "-ub by default instead of 256",
    ]);
    expect(compareSetup(key("-t 8", "/elsewhere/Qwen3.gguf", "Debian (11669)"), key("")).differs).toEqual([]);
    const silent = { ...key("", "", ""), untold: ["model", "flags"] as const };
    const { differs: none, untold } = compareSetup(silent, key("-ctk q8_0"));
    expect(none).toEqual([]);
    expect(untold.map((text) => formatText(text))).toEqual(["model", "build", "options"]);
  });

  it("of each row in one table is its own", () => {
    const table = `| model | size | params | backend | ngl | type_k | test | t/s |
| --- | --- | --- | --- | --- | --- | --- | --- |
| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | f16 | pp512 | 1000.00 ± 1.00 |
| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | q8_0 | pp512 | 330.00 ± 1.00 |

build: fe1c5c9 (9000)`;
    const curves = curvesOf(parseLlamaBench(table).rows);
    expect(curves.map(({ key: { flags, untold } }) => [flagsLike(flags, ""), untold])).toEqual([
      ["", ["model"]],
      ["-ctk q8_0", ["model"]],
    ]);
  });
});
