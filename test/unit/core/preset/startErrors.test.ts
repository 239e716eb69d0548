import { describe, expect, it } from "vitest";
import { foreignOption } from "../../../../src/core/launch/foreignNames";
import { optionOfFlag } from "../../../../src/core/launch/serverOptions";
import { lintPreset } from "../../../../src/core/preset/lintPreset";
import { readPreset } from "../../../../src/core/preset/presetModels";
import { hasUnknownCacheType, startErrors } from "../../../../src/core/preset/startErrors";

const errorsOf = (text: string): readonly (readonly [string, number])[] => {
  const preset = readPreset(text);
  const findings = lintPreset(preset);
  const errors = startErrors(preset, findings);
  return preset.models.map((model) => [model.name, errors(model)]);
};

describe("errors that keep a model from starting", () => {
  it("are its own and those of [*]", () => {
    const text = "[*]\nub = many\n[a]\nm = a.gguf\nctk = q6_0\nctv = q6_0\n[b]\nm = b.gguf\nc = 4096";
    expect(errorsOf(text)).toEqual([
      ["a", 3],
      ["b", 1],
    ]);
  });

  it("are everybody's where the router refuses the file", () => {
    expect(errorsOf("[a]\nm = a.gguf\n[b]\nm = b.gguf\ntop_p = 0.9")).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    expect(errorsOf("[a]\nm = a.gguf\n[b]\nm = b.gguf\nno equals sign")).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
  });

  it("are none where warnings are all there is", () => {
    expect(errorsOf("[a]\nm = a.gguf\nctk = q8_0\nctv = q4_0\nport = 80")).toEqual([["a", 0]]);
  });

  it("know a type of another program, unless the section overrules it", () => {
    const unknown = (text: string): readonly boolean[] => {
      const preset = readPreset(text);
      return preset.models.map((model) => hasUnknownCacheType(preset, model));
    };
    expect(unknown("[*]\nctk = turbo4\n[a]\nm = a.gguf\n[b]\nm = b.gguf\nctk = q8_0")).toEqual([true, false]);
  });
});

describe("names of other programs", () => {
  it.each(["n_ctx", "--num-ctx", "filename", "gpulayers", "kv-cache-type", "max_tokens", "type_v"])(
    "mean an option that there is: %s",
    (name) => {
      expect(optionOfFlag(`--${foreignOption(name) ?? ""}`)).toBeDefined();
    },
  );

  it("are none of llama-server's own", () => {
    for (const name of ["ctx-size", "constructor", "threads", "draft-max"])
      expect(foreignOption(name)).toBeUndefined();
  });
});
