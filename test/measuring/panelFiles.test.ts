import { expect, it } from "vitest";
import type { GaugeReport } from "../../src/core/report/gaugeReport";
import { sampleReport } from "../support/sampleReports";
import { sampleStates } from "../support/sampleStates";
import { panelPages } from "../ui/support/panelPage";

const open = panelPages();

it("takes no longer for each file where there are ten times as many", async () => {
  const panel = await open();
  await panel.show(sampleStates.fits());
  const { page } = panel;
  const soonest = async (files: number): Promise<number> => {
    const times: number[] = [];
    // never as many as are on show already
    for (let more = 0; more < 3; more++) {
      times.push(await page.evaluate(showFiles, { report: sampleReport(), count: files + more }));
    }
    return Math.min(...times);
  };
  const few = await soonest(2000);
  const many = await soonest(20_000);
  console.log(`  2,000 files in ${few.toFixed(0)} ms, 20,000 in ${many.toFixed(0)} ms`);
  expect(many).toBeLessThan(10 * few);
  const room = page.getByRole("region", { name: "Room" });
  await expect.poll(() => room.locator(".tile").count()).toBeLessThan(600);
  await room.getByRole("button", { name: "Table" }).click();
  await room.getByRole("button", { name: "Show all 20,002 files" }).waitFor();
});

/** In the page: sends a report of so many files; resolves to the milliseconds until it is drawn. */
async function showFiles({
  report,
  count,
}: {
  readonly report: GaugeReport;
  readonly count: number;
}): Promise<number> {
  const files = Array.from({ length: count }, (_, i) => {
    const label = `d${i % 50}/e${i % 7}/f${i}.ts`;
    return { file: { path: `/w/${label}`, label, bytes: 100, mtimeMs: 0 }, tokens: 10 + ((i * 7919) % 997) };
  });
  const start = performance.now();
  window.postMessage({ type: "report", report: { ...report, tokens: { ...report.tokens, files } } }, "*");
  window.postMessage({ type: "state", state: { status: "ready", revision: 1, stale: false } }, "*");
  const drawn = `${count.toLocaleString("en")} files`;
  while (!document.querySelector("main")?.textContent.includes(drawn)) {
    await new Promise((done) => requestAnimationFrame(done));
  }
  return performance.now() - start;
}
