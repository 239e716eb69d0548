import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { GaugeReport } from "../../../../src/core/report/gaugeReport";
import { Gauge } from "../../../../src/client/estimate/gauge";
import { whatIf } from "../../../../src/core/report/whatIf";
import { reportOf } from "../../../../src/core/report/gaugeState";
import { estimatesBench, noVocabulary, type EstimatesBench } from "../../../support/estimates/estimatesBench";

const vscode = await vi.hoisted(
  async () => new (await import("../../../support/estimates/vscodeStub")).VscodeStub(),
);
vi.mock("vscode", () => vscode.module());
// the threads that count in a vocabulary run a built program
vi.mock(import("../../../../src/node/tokenizer/ggufTokenizer"), () => ({
  openGgufTokenizer: () => noVocabulary(),
}));

let bench: EstimatesBench;
beforeAll(async () => {
  bench = await estimatesBench(vscode);
});
afterAll(() => bench.dispose());

const llama = "llama-3.1-8b-q4_k_m.gguf";
const qwen = "qwen2.5-14b-q4_k_m.gguf";

/** What is on show: the model's name, and what the slider and the table say beside it. */
function shown(gauge: Gauge): object {
  if (gauge.shown === undefined) throw new Error("nothing is on show");
  const { report, situation } = gauge.shown;
  expect(report).toBe(reportOf(gauge.state));
  return {
    model: report.model.known && report.model.value.name,
    report: weights(report),
    tried: weights(whatIf(report, situation, { ctxSize: 4096 })),
    table: situation.budgets?.table(situation.launch).rows[0]?.bytesPerToken,
  };
}

function weights(report: Pick<GaugeReport, "memory"> | undefined): number | undefined {
  if (report?.memory.known !== true) return undefined;
  return report.memory.value.devices.reduce((sum, { modelBytes }) => sum + modelBytes, 0);
}

describe("what is tried beside a report", () => {
  it("stays with the report's model, also after an estimate with another one was cancelled", async () => {
    let now = 0;
    const gauge = new Gauge(bench.estimates, () => (now += 1000));
    const request = { label: "harbour", roots: [bench.root] };
    bench.choose(llama);
    expect(await gauge.estimate(request)).toMatchObject({ kind: "done" });
    const before = shown(gauge);
    expect(before).toMatchObject({ model: "llama-3.1-8b-q4_k_m", report: expect.any(Number) as unknown });

    bench.choose(qwen);
    gauge.onDidChange((state) => {
      if (state.status === "counting" && state.progress.stage !== "listing") gauge.cancel();
    });
    expect(await gauge.estimate(request)).toEqual({ kind: "cancelled" });
    expect(shown(gauge)).toEqual(before);
    gauge.dispose();
  });
});
