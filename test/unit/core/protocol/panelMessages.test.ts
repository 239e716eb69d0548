import { describe, expect, it } from "vitest";
import { fromPanel, panelStateOf } from "../../../../src/core/protocol/panelMessages";
import { reportOf } from "../../../../src/core/report/gaugeState";
import { applyMessage, emptyModel, type PanelModel } from "../../../../src/core/protocol/panelModel";
import type { GaugeState } from "../../../../src/core/report/gaugeState";
import { say } from "../../../../src/core/text";
import { sampleReport } from "../../../support/sampleReports";

const report = sampleReport({ revision: 3 });
const progress = { stage: "counting", filesDone: 1, filesFound: 2, tokens: 3 } as const;
const failure = { problem: say`No answer.`, remedy: say`Start it.` };

/** The page's model after everything the extension sends for a state. */
function received(state: GaugeState, model: PanelModel = emptyModel): PanelModel {
  const shown = reportOf(state);
  const withReport = shown === undefined ? model : applyMessage(model, { type: "report", report: shown });
  return applyMessage(withReport, { type: "state", state: panelStateOf(state) });
}

describe("panel messages", () => {
  it.each<GaugeState>([
    { status: "idle" },
    { status: "counting", progress },
    { status: "counting", progress, last: report },
    { status: "ready", report, stale: false },
    { status: "ready", report, stale: true },
    { status: "failed", failure },
    { status: "failed", failure, last: report },
  ])("carry $status to the page", (state) => {
    expect(received(state).state).toEqual(state);
  });

  it("send a state without the report in it", () => {
    expect(JSON.stringify(panelStateOf({ status: "counting", progress, last: report })).length).toBeLessThan(
      200,
    );
  });

  it("show a report kept from before a reload as stale until there is a newer one", () => {
    const kept: PanelModel = { ...emptyModel, report, state: { status: "ready", report, stale: true } };
    expect(received({ status: "idle" }, kept).state).toEqual({ status: "ready", report, stale: true });
    const newer = sampleReport({ revision: 4 });
    expect(received({ status: "ready", report: newer, stale: false }, kept).state).toMatchObject({
      stale: false,
      report: { revision: 4 },
    });
  });

  it("take in the language and the trust of the window", () => {
    const page = { locale: "ja", translations: { Fits: "収まる" }, trusted: false };
    expect(applyMessage(emptyModel, { type: "page", ...page }).page).toEqual(page);
  });
});

describe("fromPanel", () => {
  it.each([
    { type: "ready" },
    { type: "command", command: "chooseServer" },
    { type: "openFile", path: "/a" },
    {
      type: "planConversation",
      input: { systemTokens: 0, turnTokens: 1, answerTokens: 0, turns: 500 },
    },
    { type: "save", name: "llama-gauge-room", files: [{ extension: "csv", content: "a" }] },
    { type: "save", name: "x", files: [{ extension: "png", content: new Uint8Array([1]) }] },
  ])("takes %j", (message) => {
    expect(fromPanel(message)).toEqual(message);
  });

  it.each([
    undefined,
    "ready",
    {},
    { type: "command", command: "workbench.action.quit" },
    { type: "command" },
    { type: "openFile", path: 3 },
    { type: "eval", code: "1" },
    { type: "planConversation" },
    { type: "planConversation", input: { systemTokens: 0, turnTokens: 0, answerTokens: 0, turns: 1 } },
    { type: "planConversation", input: { systemTokens: 0, turnTokens: 1, answerTokens: 0, turns: 501 } },
    { type: "planConversation", input: { systemTokens: "1", turnTokens: 1, answerTokens: 0, turns: 1 } },
    { type: "planConversation", input: { systemTokens: 0.5, turnTokens: 1, answerTokens: 0, turns: 1 } },
    { type: "save", name: "../../.bashrc", files: [{ extension: "csv", content: "a" }] },
    { type: "save", name: "x", files: [{ extension: "sh", content: "a" }] },
    { type: "save", name: "x", files: [{ extension: "csv", content: 3 }] },
    { type: "save", name: "x", files: [] },
  ])("does not take %j", (message) => {
    expect(fromPanel(message)).toBeUndefined();
  });
});
