import { describe, expect, it } from "vitest";
import type { RequestLimit } from "../../../../src/core/acceptance/acceptance";
import { known, unknown } from "../../../../src/core/known";
import { judgement, type JudgementInput } from "../../../../src/core/report/judgement";
import { reportWithout } from "../../../../src/core/report/fileChoice";
import { say } from "../../../../src/core/text";
import { everythingKnown, sampleCurve, sampleReport, tight, tooLong } from "../../../support/sampleReports";

const nobody = unknown(say`none`, say`Start one.`);
const limit: RequestLimit = {
  ...{ nCtxPerSlot: 16_384, provenance: "reported", slots: 1, busySlots: 0 },
  ...{ sleeping: false, fitMayReduce: false },
};
const input = (changes: Partial<JudgementInput> = {}): JudgementInput => ({
  prompt: { files: 16_000, packing: 300, template: 83 },
  limit: known(limit),
  ...{ answerReserve: 0, notes: [], server: nobody, memory: nobody },
  speed: sampleCurve,
  ...changes,
});

describe("a judgement", () => {
  it("is by llama-server's rule: one token below the slot's context is the most it takes", () => {
    expect(judgement(input()).acceptance).toMatchObject({ promptTokens: 16_383, accepted: true });
    const { acceptance, verdict } = judgement(
      input({ prompt: { files: 16_000, packing: 300, template: 84 } }),
    );
    expect(acceptance.accepted).toBe(false);
    expect(verdict.kind).toBe("exceedsContext");
  });

  it("has the notes among the reasons, of acceptance and of the verdict", () => {
    const note = say`The chat template's tokens are not counted.`;
    const { acceptance, verdict, notes } = judgement(input({ notes: [note] }));
    expect(notes).toEqual([note]);
    expect(acceptance.reasons).toContainEqual(note);
    expect(verdict.reasons).toContainEqual(note);
  });

  it("says why there is no wait, and has then no second question either", () => {
    const keeping = { memory: { kind: "plain" }, ubatch: 512, forgets: false } as const;
    const without = judgement(input({ speed: { unmeasured: say`Nobody measured.` }, keeping }));
    expect(without.prefill).toEqual({ known: false, reason: say`Nobody measured.` });
    expect(without).not.toHaveProperty("second");
    expect(without).not.toHaveProperty("curve");
    const measured = judgement(input({ keeping }));
    expect(measured.second?.keeping).toBe(keeping);
    expect(measured.second?.reread.cached).toBeGreaterThan(16_000);
  });
});

describe("a report that is judged again as it is", () => {
  it.each([
    ["with everything known", everythingKnown],
    ["with a server alone", sampleReport],
    ["with too long a prompt", tooLong],
    ["with little room", tight],
  ])("%s says the same", (_, make) => {
    const report = make();
    const { acceptance, verdict, prefill } = reportWithout(report, new Set());
    expect({ acceptance: { ...acceptance, reasons: [] }, kind: verdict.kind, prefill }).toEqual({
      acceptance: { ...report.acceptance, reasons: [] },
      kind: report.verdict.kind,
      prefill: report.prefill,
    });
  });
});
