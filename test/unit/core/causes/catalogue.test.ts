import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Cause, CauseText } from "../../../../src/core/causes/cause";
import { causes } from "../../../../src/core/causes/causes";
import type { Explanation } from "../../../../src/core/logs/logEvent";
import { say } from "../../../../src/core/text";
import { repository } from "../../../support/repository";
import { needsTranslation, sayTemplates, templatesIn } from "../../../support/sourceTexts";

const catalogue = path.join("src", "core", "causes");
const isCatalogue = (file: string): boolean => path.dirname(file) === catalogue;

/** Sentences, that is; "{0} {1}" only joins others. */
const places = [...sayTemplates()].filter(([template]) => needsTranslation(template));

describe("the catalogue of causes", () => {
  it("has every text once, and nobody else has it", () => {
    const texts = places.filter(([, files]) => files.some(isCatalogue));
    expect(texts.length).toBeGreaterThan(150);
    expect(texts.filter(([, files]) => files.length > 1)).toEqual([]);
  });

  it("is where explanations of logs take all they say from", () => {
    const folder = path.join(repository, "src/core/logs");
    const files = readdirSync(folder).filter((name) => name.endsWith("Explanations.ts"));
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) {
      expect(templatesIn(file, readFileSync(path.join(folder, file), "utf8"))).toEqual([]);
    }
  });

  it("alone makes what a log, a diagnosis or a next step gives as a cause: others do not compile", () => {
    // @ts-expect-error: a sentence of one's own
    const own: CauseText = say`It broke.`;
    const explanation: Explanation = {
      severity: "error",
      pattern: /broke/,
      // @ts-expect-error: a cause that does not stand in the catalogue
      explain: () => ({ id: "broke", sentence: say`It broke.`, remedies: [] }),
    };
    // @ts-expect-error: nor advice that does not stand there
    const remedies: Cause["remedies"] = [say`Mend it.`];
    expect([own, explanation.explain, remedies]).toHaveLength(3);
  });

  it("says the same wherever a cause is found, with the facts that are at hand", () => {
    expect(causes.contextTooSmall().id).toBe("contextTooSmall");
    expect(causes.contextTooSmall({ prompt: 9000, nCtx: 8192 }).remedies[1]).toEqual(
      causes.contextTooSmall().remedies[1],
    );
  });
});
