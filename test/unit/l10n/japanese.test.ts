import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "../../support/repository";
import { needsTranslation, sayTemplates, templatesIn } from "../../support/sourceTexts";

const bundle = JSON.parse(
  readFileSync(path.join(repository, "media/l10n/bundle.l10n.ja.json"), "utf8"),
) as Readonly<Record<string, string>>;
const templates = Array.from(sayTemplates().keys()).filter(needsTranslation);
const placeholders = (text: string): readonly string[] => (text.match(/\{\d+\}/g) ?? []).toSorted();

describe("the Japanese bundle", () => {
  it("has every sentence of the sources", () => {
    expect(templates.length).toBeGreaterThan(100);
    expect(templates.filter((template) => bundle[template] === undefined)).toEqual([]);
  });

  it("has no sentence that nobody says", () => {
    const said = new Set(templates);
    expect(Object.keys(bundle).filter((key) => !said.has(key))).toEqual([]);
  });

  it("keeps the figures and names of every sentence", () => {
    const wrong = Object.entries(bundle).filter(
      ([key, value]) => placeholders(key).join() !== placeholders(value).join(),
    );
    expect(wrong).toEqual([]);
  });

  it("keeps llama.cpp's flags and our settings as they are written", () => {
    const marks = (text: string): readonly string[] =>
      (
        text.match(/(?<![\w-])--?[a-z][a-z0-9-]*|llamaGauge\.[\w.]+\w|\/[a-z]+(?:-[a-z]+)+/g) ?? []
      ).toSorted();
    const wrong = Object.entries(bundle).filter(([key, value]) => marks(key).join() !== marks(value).join());
    expect(wrong).toEqual([]);
  });
});

describe("templatesIn", () => {
  it("sees nested sentences, and numbers their parts as `say` does", () => {
    const source = "say`Fits. ${used}${say` in ${seconds(3)}`} now`; other`x`; say`plain`;";
    expect(templatesIn("x.ts", source)).toEqual(["Fits. {0}{1} now", " in {0}", "plain"]);
  });
});
