import path from "node:path";
import type { Locator } from "playwright-core";
import { it } from "vitest";
import { modelOf } from "../../src/core/model/modelOf";
import { prescribe } from "../../src/core/prescription/prescribe";
import type { GaugeReport } from "../../src/core/report/gaugeReport";
import { reportOf } from "../../src/core/report/gaugeState";
import { repository } from "../support/repository";
import { sampleReport } from "../support/sampleReports";
import { launchBrowser } from "../support/vscodeHost/browser";
import { oneDevice, whatIfSample } from "../support/whatIfSample";
import { bundlePanel, openPanelPage } from "../ui/support/panelPage";
import { headers } from "../unit/core/memory/fixtures";

/** Launch options, and how long the user would wait, by the verdict they lead to: 19,440 tokens, one GPU of 24 GiB. */
const verdicts: Readonly<
  Record<string, { readonly options: readonly string[]; readonly patience?: number }>
> = {
  "does-not-fit": { options: ["-c", "65536", "-np", "8"] },
  slow: { options: ["-c", "65536", "-np", "1"], patience: 30 },
  tight: { options: ["-c", "20480", "-np", "1"] },
  "not-enough-memory": { options: ["-c", "262144", "-np", "1", "-fit", "off", "-ngl", "99"] },
};

it("draws each verdict that has something to change, with what helps", async () => {
  const header = headers().get("qwen3.5-35b-a3b-nomtp-q4_k_m.gguf");
  if (header === undefined) throw new Error("the header is missing");
  const [browser, bundle] = await Promise.all([launchBrowser(), bundlePanel()]);
  try {
    for (const [name, { options, patience }] of Object.entries(verdicts)) {
      const sample = whatIfSample(modelOf(header), ["-m", "m.gguf", ...options], oneDevice);
      const report: GaugeReport = sampleReport({
        ...sample.report,
        ...sample.tried({}),
        ...(patience !== undefined && { patienceSeconds: patience }),
      });
      const size = { width: 760, height: 1200 };
      const panel = await openPanelPage(browser, bundle, { theme: "light", language: "en", size });
      const state = { status: "ready", report, stale: false } as const;
      await panel.show(state);
      const shown = reportOf(state) ?? report;
      await panel.send({
        type: "prescriptions",
        prescriptions: {
          ...prescribe(report, sample.situation),
          revision: shown.revision,
          actions: ["copyFlags", "restartServer"],
        },
      });
      const last = panel.page.getByRole("region", { name: "What helps" });
      await last.waitFor();
      await panel.page.screenshot({
        path: path.join(repository, "docs", `verdict-${name}.png`),
        clip: { x: 0, y: 0, width: size.width, height: await bottomOf(last) },
        fullPage: true,
        animations: "disabled",
      });
      await panel.close();
    }
  } finally {
    await browser.close();
  }
});

async function bottomOf(place: Locator): Promise<number> {
  const box = await place.boundingBox();
  if (box === null) throw new Error("it is not on the page");
  return Math.ceil(box.y + box.height + 12);
}
