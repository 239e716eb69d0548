import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findingSection } from "../../../../src/core/preset/findingPage";
import { repository } from "../../../support/repository";

const page = readFileSync(path.join(repository, "docs/presets.md"), "utf8");

/** Every code the sources can give a finding. */
function codes(): readonly string[] {
  const texts = ["launch", "preset", "scripts"].flatMap((room) => {
    const folder = path.join(repository, "src/core", room);
    return readdirSync(folder).map((name) => readFileSync(path.join(folder, name), "utf8"));
  });
  const found = texts.flatMap((text) => [
    ...text.matchAll(/"(?:error|warning|information)",\s*"(\w+)",/g),
    ...text.matchAll(/\bcode: "(\w+)"/g),
    ...Array.from(text.matchAll(/(?:Code =|readonly why:)((?:\s*\| "\w+")+);/g)).flatMap(([, list]) => [
      ...(list ?? "").matchAll(/"(\w+)"/g),
    ]),
  ]);
  return [...new Set(found.map(([, code]) => code ?? ""))].sort();
}

describe("the page about findings", () => {
  it("explains every code there is, and no other", () => {
    expect(codes().length).toBeGreaterThan(50);
    const explained = Array.from(page.matchAll(/^#### `(\w+)`$/gm), ([, code]) => code ?? "").sort();
    expect(explained).toEqual(codes());
  });

  it("is cut at the next heading", () => {
    expect(findingSection(page, "emptyName")).toBe("#### `emptyName`\n\n`[]`: a section needs a name.\n");
    expect(findingSection(page, "nonsense")).toBeUndefined();
  });
});
