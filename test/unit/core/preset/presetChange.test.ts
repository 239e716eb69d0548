import { describe, expect, it } from "vitest";
import type { LaunchChange } from "../../../../src/core/launch/launchChange";
import { changeEdits } from "../../../../src/core/preset/presetChange";
import { readPreset } from "../../../../src/core/preset/presetModels";

/** The text after the edits, made from the last one to the first so that columns hold. */
function changed(text: string, section: string, change: LaunchChange): string {
  const lines = text.split("\n");
  const edits = changeEdits(readPreset(text), section, change).toSorted(
    (a, b) => b.line - a.line || b.start - a.start,
  );
  for (const { line, start, end, newText } of edits) {
    const old = lines[line] ?? "";
    lines[line] = old.slice(0, start) + newText + old.slice(end);
  }
  return lines.join("\n");
}

const preset = `[*]
ngl = 99

[coder]
model = coder.gguf
c = 8192 ; enough
LLAMA_ARG_CACHE_TYPE_K=
; about the next

[chat]
model = chat.gguf
c = 4096
`;

describe("a change put into a preset", () => {
  it("replaces values where they stand and adds keys at the section's end", () => {
    expect(changed(preset, "coder", { ctxSize: 65_536, cacheTypeK: "q8_0", gpuLayers: 20 })).toBe(`[*]
ngl = 99

[coder]
model = coder.gguf
c = 65536 ; enough
LLAMA_ARG_CACHE_TYPE_K= q8_0
n-gpu-layers = 20
; about the next

[chat]
model = chat.gguf
c = 4096
`);
  });

  it("is what the router would start the model with, and no other model", () => {
    const change: LaunchChange = { ctxSize: 131_072, parallel: 2, flashAttn: "on", cacheTypeV: "q8_0" };
    const { models } = readPreset(changed(preset, "coder", change));
    const options = (name: string): unknown => models.find((model) => model.name === name)?.options;
    expect(options("coder")).toMatchObject(change);
    expect(options("chat")).toEqual(readPreset(preset).models.find(({ name }) => name === "chat")?.options);
  });

  it("changes nothing where nothing is to be changed", () => {
    expect(changed(preset, "chat", { ctxSize: 4096 })).toBe(preset);
    expect(changed(preset, "nobody", { ctxSize: 1 })).toBe(preset);
  });
});
