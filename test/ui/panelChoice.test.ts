import { beforeEach, describe, expect, it } from "vitest";
import { reportWithout } from "../../src/core/report/fileChoice";
import type { GaugeReport } from "../../src/core/report/gaugeReport";
import { say } from "../../src/core/text";
import { sampleReport, slow, tooLong } from "../support/sampleReports";
import { panelPages, type PanelPage } from "./support/panelPage";

const open = panelPages();
let panel: PanelPage;
beforeEach(async () => {
  panel = await open();
});

const lockFile = "/home/ada/harbour/package-lock.json";

/** With marks as counting gives them. */
function marked(report: GaugeReport): GaugeReport {
  const mark = { kind: "lock", evidence: say`${"package-lock.json"} is a lock file.` } as const;
  const files = report.tokens.files.map((counted) =>
    counted.file.path === lockFile ? { ...counted, mark } : counted,
  );
  return {
    ...report,
    tokens: { ...report.tokens, files },
    pack: { format: "markdown", order: "walk" },
  };
}

const show = (report: GaugeReport): Promise<void> => panel.show({ status: "ready", report, stale: false });
const actions = async (): Promise<readonly unknown[]> =>
  (await panel.sent()).filter(({ type }) => type !== "ready");

describe("choosing files on the panel's page", () => {
  it("marks what a prompt may do without, in picture, list and table", async () => {
    await show(marked(sampleReport()));
    const room = panel.page.getByRole("region", { name: "Room" });
    const tile = room.locator(".tile.marked");
    await expect
      .poll(() => tile.locator("title").textContent())
      .toContain("package-lock.json is a lock file.");
    const kinds = room.getByRole("list", { name: "Files that could be excluded" });
    await expect.poll(() => kinds.innerText()).toMatch(/lock file\s+1,610\s+1 file/);
    await room.getByRole("button", { name: "Table" }).click();
    const row = room.getByRole("row", { name: /package-lock\.json/ });
    await expect.poll(() => row.getByRole("cell").last().innerText()).toBe("lock file");
  });

  it("asks to leave a file out, a whole kind, and to make it fit", async () => {
    await show(marked(tooLong()));
    const room = panel.page.getByRole("region", { name: "Room" });
    await room.getByText("Drop files to fit").click();
    await room.getByRole("checkbox", { name: /lock file/ }).uncheck();
    await room.getByRole("combobox", { name: "Order" }).selectOption("important last");
    await room.getByRole("button", { name: "Table" }).click();
    await room.getByRole("checkbox", { name: "Include LICENSE in the prompt" }).uncheck();
    expect(await actions()).toEqual([
      { type: "command", command: "dropToFit" },
      { type: "leaveOut", paths: [lockFile], out: true },
      { type: "packOrder", order: "importantLast" },
      { type: "leaveOut", paths: ["/home/ada/harbour/LICENSE"], out: true },
    ]);
  });

  it("marks what can be read in time, and asks to leave out what is more", async () => {
    await show(slow());
    const room = panel.page.getByRole("region", { name: "Room" });
    const said = /In 30 s about [\d,]+ tokens are read \([\d,]+ – [\d,]+\)\./;
    await expect.poll(() => room.getByRole("img", { name: said }).locator(".patience").count()).toBe(1);
    await expect.poll(() => room.locator("figcaption").innerText()).toMatch(said);
    const wait = panel.page.getByRole("region", { name: "Wait" });
    await expect.poll(() => wait.locator("svg.wait").innerHTML()).toMatch(/in 30 s: [\d,]+ tokens/);
    await wait.getByRole("button", { name: "Table" }).click();
    await wait.getByRole("row", { name: /\(your patience\) 30\.?\d* s/ }).waitFor();
    await room.getByText("Drop files to read it in 30 s").focus();
    await panel.page.keyboard.press("Enter");
    expect(await actions()).toEqual([{ type: "command", command: "dropToReadInTime" }]);
  });

  it("warns of files that may crash llama-server, and leaves them out at a press", async () => {
    const report = sampleReport();
    const longRun = { line: 12, length: 25_000 };
    const [risky, ...others] = report.tokens.files;
    if (risky === undefined) throw new Error("no files");
    const files = [{ ...risky, longRun }, ...others];
    await show({ ...report, tokens: { ...report.tokens, files } });
    const room = panel.page.getByRole("region", { name: "Room" });
    const warning = room.getByRole("status").filter({ hasText: `${risky.file.label}, line 12: 25,000` });
    await warning.getByText("Exclude", { exact: true }).click();
    expect(await actions()).toEqual([{ type: "leaveOut", paths: [risky.file.path], out: true }]);
    await room.getByRole("button", { name: "Table" }).click();
    const row = room.getByRole("row", { name: risky.file.label });
    await expect.poll(() => row.getByRole("cell").last().innerText()).toBe("may crash llama-server");
  });

  it("shows another choice of the same files without getting them again", async () => {
    const all = marked(tooLong());
    await show(all);
    const { page } = panel;
    await page.getByRole("heading", { level: 1, name: /^Does not fit/ }).waitFor();
    const out = all.tokens.files.slice(0, 2).map(({ file }) => file.path);
    const { tokens: _, ...judged } = { ...reportWithout(all, new Set([...out, lockFile])), revision: 2 };
    await panel.send(
      { type: "judged", report: judged },
      { type: "state", state: { status: "ready", revision: 2, stale: false } },
    );
    await page.getByRole("heading", { level: 1, name: /^Fits\. ≈ / }).waitFor();
    const room = page.getByRole("region", { name: "Room" });
    await room.getByText("9 of 12 files are in the prompt.").waitFor();
    await expect.poll(() => room.locator(".tile.out").count()).toBe(3);
    await expect.poll(() => room.getByRole("checkbox", { name: /lock file/ }).isChecked()).toBe(false);
    await panel.page.screenshot({ path: "out/screenshots/panel-choice.png", fullPage: true });
    await room.getByText("Include all").click();
    expect(await actions()).toEqual([{ type: "command", command: "includeAll" }]);
  });
});
