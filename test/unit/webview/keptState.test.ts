import { describe, expect, it } from "vitest";
import { emptyModel } from "../../../src/core/protocol/panelModel";
import { keep, restore } from "../../../src/webview/page/keptState";
import { firstUi } from "../../../src/webview/view/view";
import { sampleFiles, sampleReport } from "../../support/sampleReports";

describe("what the page keeps", () => {
  const report = sampleReport();
  const model = { ...emptyModel, report, state: { status: "ready", report, stale: false } } as const;
  const ui = { ...firstUi, room: "table" } as const;

  it("comes back after a reload as an old report, with the reader's choices", () => {
    const written = JSON.parse(JSON.stringify(keep(model, ui))) as unknown;
    expect(restore(written)).toEqual({
      model: { ...emptyModel, report, state: { status: "ready", report, stale: true } },
      ui,
    });
  });

  it("leaves out a report that is too large for VS Code's own state", () => {
    const files = Array.from({ length: 3000 }, () => sampleFiles[0]).filter((file) => file !== undefined);
    const large = sampleReport({ tokens: { ...report.tokens, files } });
    expect(keep({ ...model, report: large }, ui)).toEqual({ version: 1, ui });
  });

  it.each([undefined, null, "x", {}, { version: 2, ui }])("starts afresh from %j", (state) => {
    expect(restore(state)).toEqual({ model: emptyModel, ui: firstUi });
  });
});
