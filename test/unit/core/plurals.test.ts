import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { formatText } from "../../../src/core/format";
import { count, say, type Text } from "../../../src/core/text";
import { repository } from "../../support/repository";
import { sayTemplates } from "../../support/sourceTexts";

const bundle = JSON.parse(
  readFileSync(path.join(repository, "media/l10n/bundle.l10n.ja.json"), "utf8"),
) as Readonly<Record<string, string>>;
const english = (text: Text): string => formatText(text);
const japanese = (text: Text): string => formatText(text, "ja", (template) => bundle[template] ?? template);

describe("words after a count", () => {
  it.each([
    [0, "0 files", "0 ファイル"],
    [1, "1 file", "1 ファイル"],
    [2, "2 files", "2 ファイル"],
    [1_234_567, "1,234,567 files", "1,234,567 ファイル"],
  ])("agree with it: %d", (n, en, ja) => {
    const text = say`${count(n)} file[s]`;
    expect([english(text), japanese(text)]).toEqual([en, ja]);
  });

  it("take the count just before them", () => {
    const text = (of: number, slots: number): string =>
      english(say`${count(of)} of ${count(slots)} slot[s] [is|are] busy, ${count(of)} process[es]`);
    expect(text(1, 2)).toBe("1 of 2 slots are busy, 1 process");
    expect(text(2, 1)).toBe("2 of 1 slot is busy, 2 processes");
  });

  it("see a count inside a sentence around it", () => {
    const about = (n: number): Text => say`≈ ${count(n)}`;
    expect(english(say`${about(1)} token[s]`)).toBe("≈ 1 token");
    expect(english(say`${about(2)} token[s]`)).toBe("≈ 2 tokens");
  });

  it("are taken from the sentence alone, never from what is put into it", () => {
    expect(english(say`${count(1)} of ${"a[s] [b|c]"}: ${"x"} file[s]`)).toBe("1 of a[s] [b|c]: x files");
  });

  it("follow the rules of the reader's language", () => {
    // CLDR: French counts 0 as one, English does not.
    const text = say`${count(0)} file[s]`;
    expect(formatText(text, "fr", () => "{0} fichier[s]")).toBe("0 fichier");
    expect(formatText(text, "en")).toBe("0 files");
  });
});

describe("every sentence with a count", () => {
  const templates = Array.from(sayTemplates().keys());
  const inflected = templates.filter((template) => /\[(?:e?s|[^[\]|]*\|[^[\]|]*)\]/.test(template));
  const filled = (text: string, n: number): Text => ({
    text,
    args: Array.from(text.matchAll(/\{\d+\}/g), () => count(n)),
  });
  const nouns =
    /\b1 (?:files|tokens|runs|slots|layers|lines|canaries|processes|cells|settings|options|parts|values|points|curves|minutes|hours|days|requests|entries|bytes|characters)\b(?! per)/;

  it.each([0, 1, 2])("leaves no mark of the plural in English or Japanese: %d", (n) => {
    expect(inflected.length).toBeGreaterThan(100);
    const marked = inflected
      .map((template) => filled(template, n))
      .flatMap((text) => [english(text), japanese(text)])
      .filter((text) => /\[(?:e?s|[^[\]]*\|[^[\]]*)\]/.test(text));
    expect(marked).toEqual([]);
  });

  it("says no “1 files”", () => {
    const wrong = templates
      .map((template) => english(filled(template, 1)))
      .filter((text) => nouns.test(text));
    expect(wrong).toEqual([]);
  });

  it("has a plural after 0 and 2", () => {
    const singular =
      /\b[02] (?:file|token|run|slot|layer|line|canary|process|cell|setting|option|part|value|point)\b(?! (?:file|run))/;
    const wrong = [0, 2]
      .flatMap((n) => inflected.map((template) => english(filled(template, n))))
      .filter((text) => singular.test(text));
    expect(wrong).toEqual([]);
  });

  it("inflects only after a figure", () => {
    const early = inflected.filter((template) => template.indexOf("[") < template.indexOf("{"));
    expect(early).toEqual([]);
  });
});
