import { describe, expect, it } from "vitest";
import { valueOf } from "../../../../src/core/known";
import { argumentsWithChange } from "../../../../src/core/launch/launchChange";
import { modelOf } from "../../../../src/core/model/modelOf";
import { prescribe } from "../../../../src/core/prescription/prescribe";
import type { VerdictKind } from "../../../../src/core/report/gaugeReport";
import { randomSetup } from "../../../support/promptSetups";
import { SeededRandom } from "../../../support/seededRandom";
import { headers } from "../memory/fixtures";

const models = new Map([...headers()].map(([name, header]) => [name, modelOf(header)]));
const setups = Number(process.env["PRESCRIPTION_SETUPS"] ?? 60);
const worth: readonly VerdictKind[] = ["fits", "slow", "tight", "unknown"];
const badness = (kind: VerdictKind): number => (worth.includes(kind) ? worth.indexOf(kind) : worth.length);

describe("every change that is offered, once made", () => {
  it("gives the verdict, the context, the memory and the wait that were promised", () => {
    const random = new SeededRandom(14);
    const offers = { options: 0, leaveOut: 0, both: 0 };
    let helped = 0;
    for (let i = 0; i < setups; i++) {
      const { name, argv, report, situation, estimated } = randomSetup(models, random);
      const { offered } = prescribe(report, situation);
      if (offered.length > 0) helped++;
      expect(offered.length, name).toBeLessThanOrEqual(5);
      expect(new Set(offered.map(({ change }) => JSON.stringify(change))).size, name).toBe(offered.length);
      for (const { options, flags, leaveOut, verdict, nCtxPerSlot, devices, wait } of offered) {
        const applied = argumentsWithChange(argv, options ?? {});
        const what = `${name} → ${(flags ?? []).join(" ")} ${String(leaveOut?.files.length ?? 0)} files`;
        const made = estimated(applied, new Set(leaveOut?.files.map(({ path }) => path)));
        expect(made.verdict.kind, what).toBe(verdict.kind);
        expect(made.acceptance.nCtxPerSlot, what).toBe(nCtxPerSlot);
        expect(made.acceptance.accepted, what).toBe(true);
        expect(
          valueOf(made.memory)?.devices.map(({ totalBytes, verdict: held }) => [totalBytes, held]),
          what,
        ).toEqual(devices?.map(({ totalBytes, verdict: held }) => [totalBytes, held]));
        expect(made.prefill.known, what).toBe(wait.known);
        const better = badness(made.verdict.kind) < badness(report.verdict.kind);
        const sooner =
          made.prefill.known && report.prefill.known && made.prefill.seconds < 0.81 * report.prefill.seconds;
        expect(better || (report.verdict.kind === "slow" && sooner), what).toBe(true);
        offers[leaveOut === undefined ? "options" : options === undefined ? "leaveOut" : "both"]++;
      }
    }
    // enough of each kind to mean something
    expect(helped).toBeGreaterThan(setups / 3);
    expect(
      Object.values(offers).every((n) => n > setups / 12),
      JSON.stringify(offers),
    ).toBe(true);
    // hundreds of whole estimates
  }, 120_000);
});
