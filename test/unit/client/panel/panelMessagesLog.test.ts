import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Gauge } from "../../../../src/client/estimate/gauge";
import { GaugePanel } from "../../../../src/client/panel/panel";
import { ServerStarter } from "../../../../src/client/servers/serverStarter";
import type { ToPanel } from "../../../../src/core/protocol/panelMessages";
import { estimatesBench, noVocabulary, type EstimatesBench } from "../../../support/estimates/estimatesBench";
import { fileUri } from "../../../support/estimates/vscodeStub";

const vscode = await vi.hoisted(
  async () => new (await import("../../../support/estimates/vscodeStub")).VscodeStub(),
);
vi.mock("vscode", () => vscode.module());
// the threads that count in a vocabulary run a built program
vi.mock(import("../../../../src/node/tokenizer/ggufTokenizer"), () => ({
  openGgufTokenizer: () => noVocabulary(),
}));

let bench: EstimatesBench;
let gauge: Gauge;
let panel: GaugePanel;
const log: string[] = [];

beforeAll(async () => {
  bench = await estimatesBench(vscode);
  const { estimates } = bench;
  // the clock stands still: of the progress only the first is shown
  gauge = new Gauge(estimates, () => 0);
  const starter = new ServerStarter({
    ...{ prepare: nothing, untilReady: nothing, failure: nothing, untilGone: nothing },
  });
  panel = new GaugePanel(fileUri(bench.root), gauge, bench.log, starter, { watch: nothing });
});
afterAll(async () => {
  // scripts/goldens.mjs keeps it
  const file = process.env["GAUGE_PANEL_LOG"];
  if (file !== undefined) writeFileSync(file, `${log.join("\n")}\n`);
  panel.dispose();
  gauge.dispose();
  await bench.dispose();
});

const nothing = (): Promise<never> => Promise.reject(new Error("not in this test"));

function line(message: ToPanel): string {
  switch (message.type) {
    case "report":
    case "judged":
      return `${message.type} r${message.report.revision}`;
    case "state": {
      const { state } = message;
      const revision = "revision" in state ? ` r${state.revision}` : "";
      return `state ${state.status}${revision}${state.status === "ready" && state.stale ? " stale" : ""}`;
    }
    case "whatIf": {
      const { answer } = message;
      return answer === undefined
        ? "whatIf of nothing"
        : `whatIf r${answer.report.revision} ${JSON.stringify(answer.change)} ${answer.actions.join(",")}`;
    }
    case "contextTable":
      return `contextTable ${message.table === undefined ? "of nothing" : "there"}`;
    default:
      return message.type;
  }
}

/** What reaches the page while something is done, until as much has come as is expected. */
async function said(what: string, lines: readonly string[], work: () => unknown): Promise<void> {
  vscode.sent.length = 0;
  await work();
  await vi.waitFor(() => expect(vscode.sent.length).toBeGreaterThanOrEqual(lines.length));
  const messages = vscode.sent.map(line);
  log.push(`# ${what}`, ...messages);
  expect(messages, what).toEqual(lines);
}

describe("what the panel tells its page", () => {
  it("a report once, then states that name it; another choice of files without the files", async () => {
    const request = { label: "harbour", roots: [bench.root] };
    bench.choose("llama-3.1-8b-q4_k_m.gguf");
    panel.show("memory");
    await said("ready", ["page", "state idle", "reveal"], () => vscode.say({ type: "ready" }));
    await said("estimate", ["state counting", "report r1", "state ready r1", "prescriptions"], () =>
      gauge.estimate(request),
    );
    await said("leave out", ["judged r2", "state ready r2", "prescriptions"], () =>
      vscode.say({ type: "leaveOut", paths: [path.join(bench.root, "gate.md")], out: true }),
    );
    await said("what if", ['whatIf r2 {"ctxSize":4096} copyFlags'], () =>
      vscode.say({ type: "whatIf", change: { ctxSize: 4096 } }),
    );
    await said("table", ["contextTable there"], () => vscode.say({ type: "contextTable", open: true }));
    await said(
      "include",
      [
        "judged r3",
        "state ready r3",
        'whatIf r3 {"ctxSize":4096} copyFlags',
        "contextTable there",
        "prescriptions",
      ],
      () => vscode.say({ type: "leaveOut", paths: [path.join(bench.root, "gate.md")], out: false }),
    );
    await said(
      "recount",
      [
        "report r4",
        "state ready r4",
        'whatIf r4 {"ctxSize":4096} copyFlags',
        "contextTable there",
        "prescriptions",
      ],
      () => gauge.recount(),
    );
    await said("cancel", ["state counting r4", "state ready r4"], () => {
      const running = gauge.estimate(request);
      gauge.cancel();
      return running;
    });
    await said("stale", ["state ready r4 stale"], () => gauge.markStale());
    await said("fail", ["state counting r4", "state failed r4"], () =>
      gauge.estimate({ label: "nowhere", roots: [path.join(bench.root, "nowhere")] }),
    );
    await said(
      "the page again",
      [
        "page",
        "report r4",
        "state failed r4",
        'whatIf r4 {"ctxSize":4096} copyFlags',
        "contextTable there",
        "prescriptions",
      ],
      () => vscode.say({ type: "ready" }),
    );
    await said("nothing tried", ["whatIf of nothing"], () => vscode.say({ type: "whatIf", change: {} }));
  });
});
