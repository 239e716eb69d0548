import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { repository } from "../support/repository";
import { sampleStates, type SampleState } from "../support/sampleStates";
import { launchBrowser } from "../support/vscodeHost/browser";
import { bundlePanel, openPanelPage } from "../ui/support/panelPage";
import type { Theme } from "../ui/support/workbench";

const themes: readonly Theme[] = ["light", "dark", "highContrast", "highContrastLight"];

/** The pictures of the walkthrough's steps, saved from the page as a reader would. */
const steps: Readonly<Record<string, readonly [SampleState, string]>> = {
  estimate: ["serverOnly", "Room"],
  memory: ["fits", "Memory"],
  wait: ["fits", "Wait"],
  fit: ["partly", "Room"],
};

it("draws the walkthrough's pictures in every theme", async () => {
  const folder = path.join(repository, "media/walkthrough");
  await mkdir(folder, { recursive: true });
  const [browser, bundle] = await Promise.all([launchBrowser(), bundlePanel()]);
  try {
    for (const [step, [state, card]] of Object.entries(steps)) {
      for (const theme of themes) {
        const size = { width: 620, height: 800 };
        const panel = await openPanelPage(browser, bundle, { theme, language: "en", size });
        await panel.show(sampleStates[state]());
        const region = panel.page.getByRole("region", { name: card });
        await region.getByRole("button", { name: "Save picture as SVG or PNG" }).click();
        const saved = async (): Promise<unknown> => (await panel.sent()).at(-1)?.type;
        await expect.poll(saved, { timeout: 20_000 }).toBe("save");
        const message = (await panel.sent()).at(-1);
        const svg = message?.type === "save" ? message.files[0]?.content : undefined;
        if (typeof svg !== "string") throw new Error("no picture");
        await writeFile(path.join(folder, `${step}-${theme}.svg`), svg);
        await panel.close();
      }
    }
  } finally {
    await browser.close();
  }
});
