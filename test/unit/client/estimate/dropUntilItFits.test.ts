import { describe, expect, it } from "vitest";
import { dropUntilItFits } from "../../../../src/client/estimate/dropUntilItFits";
import { formatText } from "../../../../src/core/format";
import { predict } from "../../../../src/core/prefill/predict";
import { planAnswer } from "../../../../src/core/agents/agentAnswers";
import { reportWithout } from "../../../../src/core/report/fileChoice";
import type { GaugeReport } from "../../../../src/core/report/gaugeReport";
import { slow, sampleReport, tooLong } from "../../../support/sampleReports";

/** What the gauge does with a choice, without counting again. */
class Choices {
  constructor(public report: GaugeReport) {}

  get state(): { readonly status: "ready"; readonly report: GaugeReport; readonly stale: boolean } {
    return { status: "ready", report: this.report, stale: false };
  }

  choose(leftOut: readonly string[]): void {
    this.report = reportWithout(this.report, new Set(leftOut));
  }

  recount(): Promise<{ readonly kind: "done"; readonly report: GaugeReport }> {
    return Promise.resolve({ kind: "done", report: this.report });
  }
}

describe("dropping files", () => {
  it("stops where the rest is read in the time the user has patience for", async () => {
    const choices = new Choices(slow());
    expect(choices.report.verdict.kind).toBe("slow");
    expect(formatText(await dropUntilItFits(choices, "time"))).toMatch(/^\d+ files? excluded$/);
    const { verdict, prefill, leftOut = [], curve } = choices.report;
    expect(verdict.kind).toBe("fits");
    expect(prefill.known && prefill.seconds).toBeLessThanOrEqual(30);
    // with the smallest of them it would take longer
    const back = choices.report.tokens.files
      .filter(({ file }) => leftOut.includes(file.path))
      .reduce((a, b) => (b.tokens < a.tokens ? b : a));
    const more = choices.report.acceptance.promptTokens + back.tokens;
    const longer = curve && predict(curve, { tokens: more });
    expect(longer?.known === true ? longer.seconds : 0).toBeGreaterThan(30);
    expect(formatText(await dropUntilItFits(choices, "time"))).toMatch(/^It fits/);
  });

  it("never leaves more than one request may hold, however long one would wait", async () => {
    const choices = new Choices({
      ...{ ...slow(), limit: tooLong().limit },
      acceptance: tooLong().acceptance,
    });
    await dropUntilItFits(choices, "time");
    expect(choices.report.acceptance.accepted).toBe(true);
  });

  it("says what to do where nothing was measured or nobody waits", async () => {
    await expect(dropUntilItFits(new Choices(sampleReport()), "time")).rejects.toMatchObject({
      remedy: { text: expect.stringContaining("llamaGauge.patienceSeconds") as string },
    });
  });
});

describe("an agent's plan by time", () => {
  it("keeps what is read in so many seconds", () => {
    const answer = planAnswer(slow(), false, { budgetSeconds: 30 });
    const [, left] =
      /→ ([\d,]+) tokens, for ([\d,]+) tokens, which are most likely read in 30/.exec(answer) ?? [];
    const { curve } = slow();
    const read = curve && predict(curve, { tokens: Number(left?.replace(",", "")) });
    expect(read?.known === true && read.seconds).toBeLessThanOrEqual(30);
    expect(planAnswer(slow(), false, { budgetSeconds: 3000 })).toMatch(/^Everything fits/);
    expect(planAnswer(sampleReport(), false, { budgetSeconds: 30 })).toMatch(
      /is not known.*without budget_seconds/,
    );
  });
});
