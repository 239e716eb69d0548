import { describe, expect, it } from "vitest";
import { sampleReport } from "../support/sampleReports";
import { sampleStateNames, sampleStates, type SampleState } from "../support/sampleStates";
import { panelPages, type PanelPage, type PanelSetting } from "./support/panelPage";

const open = panelPages();

/** Shows a state in a fresh page. */
async function withState(
  state: SampleState,
  setting: Partial<PanelSetting>,
  use: (panel: PanelPage) => Promise<void>,
): Promise<void> {
  const panel = await open(setting);
  await panel.show(sampleStates[state]());
  await use(panel);
}

describe("the panel's page", () => {
  it.each(sampleStateNames)(
    "draws the state %s in every language, whole, under its policy",
    async (state) => {
      for (const language of ["en", "ja"] as const) {
        await withState(state, { language, trusted: state !== "failed" }, async ({ page }) => {
          await expect.poll(() => page.locator("html").getAttribute("lang")).toBe(language);
          await expect
            .poll(() => page.locator("main").innerText())
            .not.toMatch(/\{\d\}|undefined|NaN|\[object/);
          const cutOff = await page.evaluate(() =>
            Array.from(document.querySelectorAll("main *"))
              .filter((element) => getComputedStyle(element).textOverflow === "ellipsis")
              .filter((element) => element.scrollWidth > element.clientWidth)
              .map((element) => element.textContent),
          );
          expect(cutOff).toEqual([]);
        });
      }
    },
  );

  it.each(sampleStateNames)("reflows the state %s to 320 pixels", async (state) => {
    await withState(state, { size: { width: 320, height: 700 } }, async ({ page }) => {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide).toBeLessThanOrEqual(320);
    });
  });

  it("answers in one sentence first", async () => {
    await withState("fits", {}, async ({ page }) => {
      const heading = page.getByRole("heading", { level: 1 });
      await expect.poll(() => heading.innerText()).toMatch(/^Fits\. 19,440 of 32,512 tokens/);
      await expect
        .poll(() => page.getByRole("heading", { level: 2 }).allInnerTexts())
        .toEqual(["Room", "Memory", "Wait", "Conversation", "Measured speed", "Ladder"]);
    });
  });

  it("has the same facts as tables, reached by keyboard", async () => {
    await withState("fits", {}, async ({ page }) => {
      const room = page.getByRole("region", { name: "Room" });
      const table = room.getByRole("button", { name: "Table" });
      await table.focus();
      await page.keyboard.press("Enter");
      const rows = room.getByRole("table", { name: "Files by tokens" }).getByRole("row");
      await expect.poll(() => rows.count()).toBe(13);
      await expect.poll(() => rows.nth(1).innerText()).toMatch(/^src\/server\/server\.cpp\s+4,210\s+22 %/);
      await expect.poll(() => table.getAttribute("aria-pressed")).toBe("true");
      const memory = page.getByRole("region", { name: "Memory" });
      await memory.getByRole("button", { name: "Table" }).click();
      const device = memory.getByRole("table", { name: "Memory by device" }).getByRole("row").nth(1);
      await expect
        .poll(() => device.innerText())
        .toMatch(/^CUDA0\s+11\.4 GiB\s+922 MiB\s+410 MiB\s+12\.7 GiB\s+23\.2 GiB/);
    });
  });

  it("opens files and runs commands by asking the extension", async () => {
    await withState("noServer", {}, async (panel) => {
      const { page } = panel;
      await page.locator(".tile.file", { hasText: "README.md" }).click();
      await page.getByRole("region", { name: "Room" }).getByRole("button", { name: "Table" }).click();
      await page.getByRole("button", { name: "src/server/slots.cpp" }).click();
      await page.getByRole("button", { name: "Choose server" }).focus();
      await page.keyboard.press("Enter");
      expect(await panel.sent()).toEqual([
        { type: "ready" },
        { type: "openFile", path: "/home/ada/harbour/README.md" },
        { type: "openFile", path: "/home/ada/harbour/src/server/slots.cpp" },
        { type: "command", command: "chooseServer" },
      ]);
    });
  });

  it("lists what was left out, with the reason", async () => {
    await withState("fits", {}, async ({ page }) => {
      await page.getByText("Not counted: 3").click();
      const rows = page.getByRole("table", { name: "What was excluded" }).getByRole("row");
      await expect
        .poll(async () => (await rows.allInnerTexts()).slice(1))
        .toEqual([
          expect.stringMatching(
            /^node_modules\/\s+excluded by an ignore file \(\.gitignore: node_modules\/\)/,
          ),
          expect.stringMatching(/^media\/logo\.png\s+not text/),
          expect.stringMatching(/^run\.fifo\s+not a regular file/),
        ]);
    });
  });

  it("shows progress over the last report, and can cancel", async () => {
    await withState("counting", {}, async (panel) => {
      const { page } = panel;
      await expect
        .poll(() => page.locator(".notice.counting[role=status]").innerText())
        .toContain("31 of 48 files, 12,345 tokens");
      await expect.poll(() => page.getByRole("progressbar").getAttribute("value")).toBe("31");
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      expect((await panel.sent()).at(-1)).toEqual({ type: "command", command: "cancel" });
    });
  });

  it("tells a failure and keeps the last report under it", async () => {
    await withState("failedWithReport", {}, async ({ page }) => {
      await expect.poll(() => page.getByRole("alert").innerText()).toContain("does not answer");
      await page.getByRole("button", { name: "Try again" }).waitFor();
      await page.getByRole("heading", { level: 1, name: /^Fits/ }).waitFor();
    });
  });

  it("says what an untrusted workspace leaves out", async () => {
    await withState("idle", { trusted: false }, async (panel) => {
      await panel.page.getByText("This workspace is not trusted.").waitFor();
      await panel.page.getByRole("button", { name: "Manage trust" }).click();
      expect((await panel.sent()).at(-1)).toEqual({ type: "command", command: "manageTrust" });
    });
  });

  it("brings the wanted part into view and focus", async () => {
    await withState("fits", { size: { width: 700, height: 300 } }, async (panel) => {
      await panel.send({ type: "reveal", section: "memory" });
      await panel.page.locator("#memory:focus").waitFor();
      await expect.poll(() => panel.page.evaluate(() => scrollY)).toBeGreaterThan(100);
    });
  });

  it("shows names as text whatever is in them", async () => {
    const [file] = sampleReport().tokens.files;
    const label = "src/<img src=x onerror=alert(1)>\u202e\n${1}.md";
    const report = sampleReport({
      scope: { label: "<b>bold</b>", roots: [] },
      tokens: { ...sampleReport().tokens, files: file ? [{ ...file, file: { ...file.file, label } }] : [] },
    });
    const panel = await open();
    await panel.show({ status: "ready", report, stale: false });
    await panel.page.getByText("<b>bold</b>").waitFor();
    await panel.page.getByRole("region", { name: "Room" }).getByRole("button", { name: "Table" }).click();
    await panel.page.getByText("src/<img src=x onerror=alert(1)>\ufffd␊${1}.md").waitFor();
  });

  it("comes back after a reload with the reader's choices and the old report", async () => {
    let kept: unknown;
    await withState("fits", {}, async (panel) => {
      await panel.page.getByRole("region", { name: "Wait" }).getByRole("button", { name: "Table" }).click();
      kept = await panel.kept();
    });
    const { page } = await open({ kept });
    await page.getByRole("heading", { level: 1, name: /^Fits/ }).waitFor();
    await page.getByText(/Something has changed since this was counted/).waitFor();
    await page.getByRole("table", { name: "Time to the first token" }).waitFor();
  });

  it("stands still for readers who want less motion", async () => {
    const animation = ({ page }: PanelPage): Promise<string> =>
      page.getByRole("progressbar").evaluate((bar) => getComputedStyle(bar).animationName);
    await withState("listing", { reducedMotion: true }, async (panel) => {
      expect(await animation(panel)).toBe("none");
    });
    await withState("listing", {}, async (panel) => {
      expect(await animation(panel)).toBe("sweep");
    });
  });
});
