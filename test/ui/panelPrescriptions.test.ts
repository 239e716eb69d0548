import { mkdir } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { modelOf } from "../../src/core/model/modelOf";
import { prescribe } from "../../src/core/prescription/prescribe";
import type { ToPanel } from "../../src/core/protocol/panelMessages";
import type { GaugeReport } from "../../src/core/report/gaugeReport";
import { oneDevice, whatIfSample } from "../support/whatIfSample";
import { headers } from "../unit/core/memory/fixtures";
import { violations } from "./support/axe";
import { panelPages, type PanelPage } from "./support/panelPage";
import { screenshotFolder } from "./support/workbench";

const header = headers().get("qwen3.5-35b-a3b-nomtp-q4_k_m.gguf");
if (header === undefined) throw new Error("the header is missing");
const sample = whatIfSample(modelOf(header), ["-m", "m.gguf", "-c", "65536", "-np", "8"], oneDevice);
// 19,440 tokens for a slot of 8,192
const report: GaugeReport = { ...sample.tried({}), tokens: sample.report.tokens };
const prescriptions = prescribe(report, sample.situation);
const message: ToPanel = {
  type: "prescriptions",
  prescriptions: { ...prescriptions, revision: report.revision, actions: ["copyFlags", "restartServer"] },
};

const open = panelPages();
let panel: PanelPage;
beforeEach(async () => {
  panel = await open();
  await panel.show({ status: "ready", report, stale: false });
});

const list = (): ReturnType<typeof panel.page.getByRole> =>
  panel.page.getByRole("region", { name: "What helps" });

describe("what helps, on the panel's page", () => {
  it("comes after the verdict, takes the place of general advice, and each is done with one press", async () => {
    const { page } = panel;
    await page.getByText("start llama-server with a larger -c").waitFor();
    await panel.send(message);
    await page.getByText("start llama-server with a larger -c").waitFor({ state: "detached" });
    const first = list().getByRole("group", { name: "Start llama-server with -kvu" });
    await expect.poll(() => first.innerText()).toMatch(/Fits\. 19,440 of 65,536 tokens/);
    await expect.poll(() => first.innerText()).toMatch(/CUDA0: \d+\.\d GiB of 23\.0 GiB free, fits/);
    const before = (await panel.sent()).length;
    await first.getByRole("button", { name: "Try it" }).focus();
    await page.keyboard.press("Enter");
    await first.getByRole("button", { name: "Copy options" }).click();
    await first.getByRole("button", { name: "Restart server" }).click();
    await list()
      .getByRole("button", { name: /^Leave out \d+ files?$/ })
      .first()
      .click();
    const change = { kvUnified: true };
    const paths = prescriptions.offered.flatMap(({ leaveOut }) => (leaveOut === undefined ? [] : [leaveOut]));
    expect((await panel.sent()).slice(before)).toEqual([
      { type: "whatIf", change },
      { type: "whatIfAction", action: "copyFlags", change },
      { type: "whatIfAction", action: "restartServer", change },
      { type: "leaveOut", paths: paths[0]?.files.map((file) => file.path), out: true },
    ]);
  });

  it("is for the report it was made for, and for no other", async () => {
    await panel.show({ status: "ready", report: { ...report, revision: report.revision + 1 }, stale: false });
    await panel.send(message);
    await expect.poll(() => list().count()).toBe(0);
  });

  it("has nothing against it by WCAG 2.2 AA in any theme and reflows to 320 pixels", async () => {
    const { page } = panel;
    await panel.send(message);
    await list().waitFor();
    for (const theme of ["light", "highContrast", "highContrastLight", "dark"] as const) {
      await panel.setTheme(theme);
      expect(await violations(page, "main")).toEqual([]);
    }
    await mkdir(screenshotFolder, { recursive: true });
    await page.screenshot({ path: path.join(screenshotFolder, "prescriptions.png") });
    await page.setViewportSize({ width: 320, height: 700 });
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
      .toBeLessThanOrEqual(320);
  });
});
