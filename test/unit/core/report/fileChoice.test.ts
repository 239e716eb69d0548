import { describe, expect, it } from "vitest";
import { planDrop, reportWithout } from "../../../../src/core/report/fileChoice";
import type { GaugeReport } from "../../../../src/core/report/gaugeReport";
import { say } from "../../../../src/core/text";
import {
  everythingKnown,
  sampleFiles,
  sampleReport,
  sampleTokens,
  tooLong,
} from "../../../support/sampleReports";

const pathOf = (label: string): string => `/home/ada/harbour/${label}`;
const without = (report: GaugeReport, ...labels: string[]): GaugeReport =>
  reportWithout(report, new Set(labels.map(pathOf)));

describe("reportWithout", () => {
  it("takes a file's tokens and its share of the headers out of the prompt", () => {
    const report = without(sampleReport(), "package-lock.json");
    expect(report.acceptance.parts.files).toBe(sampleTokens - 1610);
    // 216 tokens of headers and fences for 12 files
    const taken = 216 - report.acceptance.parts.packing;
    expect(taken).toBeGreaterThan(9);
    expect(taken).toBeLessThan(27);
    const { files, packing, template } = report.acceptance.parts;
    expect(report.acceptance.promptTokens).toBe(files + packing + template);
    expect(report.leftOut).toEqual([pathOf("package-lock.json")]);
    expect(report.tokens.files).toHaveLength(sampleFiles.length);
  });

  it("is not exact until it is counted, and says so in the verdict", () => {
    const report = without(sampleReport(), "package-lock.json");
    expect(report.acceptance.exact).toBe(false);
    expect(report.verdict.sentence.text).toBe("Fits. {0}{1}");
    expect(JSON.stringify(report.verdict.sentence)).toContain("≈");
  });

  it("changes verdict, room and wait with it", () => {
    const all = everythingKnown();
    expect(tooLong().verdict.kind).toBe("exceedsContext");
    const fewer = without(tooLong(), "src/server/server.cpp", "src/server/slots.cpp");
    expect(fewer.verdict.kind).toBe("fits");
    expect(fewer.acceptance.answerRoom).toBeGreaterThan(2048);
    const quicker = without(all, "src/server/server.cpp");
    if (!all.prefill.known || !quicker.prefill.known) throw new Error("no prediction");
    expect(quicker.prefill.seconds).toBeLessThan(all.prefill.seconds);
  });

  it("keeps what counting left open", () => {
    const note = say`The chat template's tokens are not counted.`;
    const report = without(sampleReport({ notes: [note] }), "README.md");
    expect(report.acceptance.reasons).toContainEqual(note);
  });

  it("gives everything back when nothing is left out any more", () => {
    const back = reportWithout(without(sampleReport(), "README.md"), new Set());
    expect(back.leftOut).toBeUndefined();
    const { promptTokens } = sampleReport().acceptance;
    expect(Math.abs(back.acceptance.promptTokens - promptTokens)).toBeLessThan(10);
  });
});

describe("planDrop", () => {
  it("drops what is worth least, and no more than needed for prompt and answer", () => {
    const report = tooLong();
    const marked = report.tokens.files.map((counted) =>
      counted.file.label === "package-lock.json"
        ? { ...counted, mark: { kind: "lock", evidence: say`lock` } as const }
        : counted,
    );
    const plan = planDrop({ ...report, tokens: { ...report.tokens, files: marked } });
    if (plan?.kind !== "drop") throw new Error(`planned ${plan?.kind}`);
    expect(plan.files[0]?.label).toBe("package-lock.json");
    expect(plan.tokensLeft).toBeLessThanOrEqual(16_384 - 2048);
    // without the smallest of the dropped it would not do
    const spare = 16_384 - 2048 - plan.tokensLeft;
    expect(Math.min(...plan.files.map(({ tokens }) => tokens))).toBeGreaterThan(spare - 50);
  });

  it("has nothing to drop where it fits, and no answer without a limit", () => {
    expect(planDrop(sampleReport())).toEqual({ kind: "fits" });
    const { acceptance } = sampleReport();
    const unlimited = sampleReport({ acceptance: { ...acceptance, nCtxPerSlot: null, accepted: null } });
    expect(planDrop(unlimited)).toBeUndefined();
  });

  it("looks only at files that are still in the prompt", () => {
    const report = without(tooLong(), "src/server/server.cpp");
    const plan = planDrop(report);
    const labels = plan?.kind === "drop" ? plan.files.map(({ label }) => label) : [];
    expect(labels).not.toContain("src/server/server.cpp");
  });
});
