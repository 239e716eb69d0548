import { mkdir } from "node:fs/promises";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { LaunchChange } from "../../src/core/launch/launchChange";
import { contextTable } from "../../src/core/memory/budget/contextTable";
import { modelOf } from "../../src/core/model/modelOf";
import type { ToPanel } from "../../src/core/protocol/panelMessages";
import { oneDevice, twoUnequalDevices, whatIfSample } from "../support/whatIfSample";
import { headers } from "../unit/core/memory/fixtures";
import { violations } from "./support/axe";
import { panelPages, type PanelPage } from "./support/panelPage";
import { screenshotFolder } from "./support/workbench";

const header = headers().get("qwen3.5-35b-a3b-nomtp-q4_k_m.gguf");
if (header === undefined) throw new Error("the header is missing");
const model = modelOf(header);
const commandLine = ["-m", "m.gguf", "-c", "65536", "-np", "1", "-fa", "on"];

const open = panelPages();
let panel: PanelPage;
beforeEach(async () => {
  panel = await open();
});

const memory = (): ReturnType<typeof panel.page.getByRole> =>
  panel.page.getByRole("region", { name: "Memory" });
const changes = async (): Promise<readonly LaunchChange[]> =>
  (await panel.sent()).flatMap((message) => (message.type === "whatIf" ? [message.change] : []));

describe("what-if on the panel's page", () => {
  const sample = whatIfSample(model, commandLine, oneDevice);
  const answer = (change: LaunchChange): ToPanel => ({
    type: "whatIf",
    answer: {
      change,
      report: sample.tried(change),
      actions: ["copyFlags", "putIntoPreset", "restartServer"],
    },
  });
  beforeEach(() => panel.show({ status: "ready", report: sample.report, stale: false }));

  it("asks for every step of the context slider, by keyboard, and shows all three answers", async () => {
    const { page } = panel;
    const slider = memory().getByRole("slider", { name: "context -c" });
    await expect.poll(() => slider.getAttribute("aria-valuetext")).toBe("65,536 tokens");
    await slider.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("End");
    expect(await changes()).toEqual([{ ctxSize: 81_920 }, { ctxSize: 262_144 }]);
    await expect.poll(() => slider.getAttribute("aria-valuetext")).toBe("262,144 tokens");

    await panel.send(answer({ ctxSize: 262_144 }));
    await page.getByText("What if: -c 262144").waitFor();
    await page.getByRole("heading", { level: 1, name: /19,440 of 262,144 tokens/ }).waitFor();
    for (const said of [
      /Room\s+262,144 tokens per request\s+now 65,536/,
      /Memory\s+\d+\.\d GiB\. CUDA0 (lacks|is the tightest device).*now \d+\.\d GiB/,
      /Wait\s+\d+ s \(\d+ s – \d+ s\)\s+now \d+ s/,
    ]) {
      await expect.poll(() => memory().locator(".differences").innerText()).toMatch(said);
    }
  });

  it("draws an answer within two frames of its arrival", async () => {
    const frames = await panel.page.evaluate(framesUntilShown, answer({ ctxSize: 131_072 }));
    expect(frames).toBeLessThanOrEqual(2);
  });

  it("sends only what differs, and nothing after Reset", async () => {
    const { page } = panel;
    await memory().getByRole("combobox", { name: "KV type of K -ctk" }).selectOption("q8_0");
    await memory().getByRole("combobox", { name: "flash attention -fa" }).selectOption("off");
    await memory().getByRole("combobox", { name: "flash attention -fa" }).selectOption("on");
    await memory().getByRole("spinbutton", { name: "layers on the GPU -ngl" }).fill("20");
    expect(await changes()).toEqual([
      { cacheTypeK: "q8_0" },
      { cacheTypeK: "q8_0", flashAttn: "off" },
      { cacheTypeK: "q8_0" },
      { cacheTypeK: "q8_0", gpuLayers: 20 },
    ]);
    await panel.send(answer({ cacheTypeK: "q8_0", gpuLayers: 20 }));
    await page.getByText("What if: -ctk q8_0 -ngl 20").waitFor();
    await page.getByRole("button", { name: "Reset", exact: true }).click();
    expect((await changes()).at(-1)).toEqual({});
    await panel.send({ type: "whatIf" });
    await page.getByText("What if: -ctk q8_0").waitFor({ state: "detached" });
    await expect
      .poll(() => memory().getByRole("combobox", { name: "KV type of K -ctk" }).inputValue())
      .toBe("f16");
  });

  it("has no wait for options nobody measured, and says so", async () => {
    await panel.send(answer({ cacheTypeK: "q8_0", cacheTypeV: "q8_0" }));
    await memory().getByText("No speed has been measured with these options.").waitFor();
  });

  it("offers what can be done, and does none of it by itself", async () => {
    const { page } = panel;
    await panel.send(answer({ ctxSize: 8192 }));
    const before = (await panel.sent()).length;
    for (const name of ["Copy options", "Put into preset", "Restart server"]) {
      await page.getByRole("button", { name }).click();
    }
    expect((await panel.sent()).slice(before)).toEqual([
      { type: "whatIfAction", action: "copyFlags" },
      { type: "whatIfAction", action: "putIntoPreset" },
      { type: "whatIfAction", action: "restartServer" },
    ]);
  });

  it("asks again after a reload", async () => {
    await memory().getByRole("combobox", { name: "slots -np" }).selectOption("4");
    const kept = await panel.kept();
    panel = await open({ kept });
    expect(await changes()).toEqual([{ parallel: 4 }]);
  });

  it("makes the table of contexts and KV types when it is opened", async () => {
    const { page } = panel;
    await memory().getByText("Every context with every KV type").click();
    await expect.poll(async () => (await panel.sent()).at(-1)).toEqual({ type: "contextTable", open: true });
    const { launch } = sample.situation;
    await panel.send({ type: "contextTable", table: contextTable(model, launch, oneDevice) });
    const table = page.getByRole("table", { name: "Context and KV type" });
    for (const [i, row] of [
      /per token\s+largest -c that fits\s+-c 8,192\s+-c 16,384.*-c 262,144/,
      /^f16\s+22,\d\d\d B\s+\d+,\d\d\d \(.*\)\s+CUDA0 \d+\.\d GiB/,
      /^q8_0 \/ f16\s+1\d,\d\d\d B/,
    ].entries()) {
      await expect.poll(() => table.getByRole("row").nth(i).innerText()).toMatch(row);
    }
  });

  it("says how llama.cpp's own figures differ from ours", async () => {
    const { memory: computed } = sample.report;
    if (!computed.known) throw new Error("no budget");
    const [gpu, host] = computed.value.devices;
    if (gpu === undefined || host === undefined) throw new Error("no devices");
    const reported = { ...gpu, computeBytes: gpu.computeBytes + 100 * 2 ** 20 };
    const value = { ...computed.value, devices: [reported, host], computed: computed.value };
    const report = { ...sample.report, revision: 2, memory: { known: true as const, value } };
    await panel.show({ status: "ready", report, stale: false });
    await memory().getByText("CUDA0: llama-fit-params reports 100 MiB more for compute buffers").waitFor();
    const rows = memory().getByRole("table", { name: "Computed and reported" }).getByRole("row");
    await expect.poll(() => rows.count()).toBe(5);
  });
});

describe("what-if for everyone", () => {
  const sample = whatIfSample(model, commandLine, twoUnequalDevices);
  const change: LaunchChange = { ctxSize: 262_144, cacheTypeK: "q8_0", cacheTypeV: "q8_0" };

  it("has nothing against it by WCAG 2.2 AA, as picture and as table, and reflows to 320 pixels", async () => {
    const { page } = panel;
    await panel.show({ status: "ready", report: sample.report, stale: false });
    await panel.send({
      type: "whatIf",
      answer: { change, report: sample.tried(change), actions: ["copyFlags", "restartServer"] },
    });
    await memory().getByText("Every context with every KV type").click();
    const table = contextTable(model, sample.situation.launch, twoUnequalDevices);
    await panel.send({ type: "contextTable", table });
    await page.getByRole("table", { name: "Context and KV type" }).waitFor();
    for (const theme of ["dark", "light", "highContrast"] as const) {
      await panel.setTheme(theme);
      expect(await violations(page, "main")).toEqual([]);
    }
    await memory().getByRole("button", { name: "Table" }).click();
    await memory().getByRole("table", { name: "Memory by device" }).waitFor();
    expect(await violations(page, "main")).toEqual([]);
    await page.setViewportSize({ width: 320, height: 700 });
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
      .toBeLessThanOrEqual(320);
  });
});

describe("the budget's picture", () => {
  it.each([
    ["one device", oneDevice],
    ["two devices", twoUnequalDevices],
  ] as const)(
    "shows %s with margin, other programs and the tightest device in words",
    async (name, devices) => {
      const { report } = whatIfSample(model, commandLine, devices);
      await panel.show({ status: "ready", report, stale: false });
      const live = {
        at: Date.UTC(2026, 10, 29, 12, 30),
        devices: [],
        host: { name: "Host", totalBytes: 64 * 2 ** 30, freeBytes: 40 * 2 ** 30 },
        server: { pid: 4711, residentBytes: 21 * 2 ** 30 },
      };
      await panel.send({ type: "live", memory: live });
      await memory().getByText("Host: 40.0 GiB of 64.0 GiB free").waitFor();
      const folder = path.join(screenshotFolder, "memory");
      await mkdir(folder, { recursive: true });
      await memory().screenshot({ path: path.join(folder, `panel-${name.replace(" ", "-")}.png`) });
      await expect
        .poll(() => memory().locator(".legend").innerText())
        .toMatch(/to keep free.*other programs/s);
      const tightest = devices.length === 2 ? "CUDA0" : "RPC1";
      await expect
        .poll(() => memory().locator(".tightest").innerText())
        .toMatch(new RegExp(`^${tightest} (lacks|is the tightest device)`));
      await memory().getByRole("button", { name: "Table" }).click();
      const rows = memory().getByRole("table", { name: "Memory by device" }).getByRole("row");
      await expect.poll(() => rows.count()).toBe(1 + devices.length);
    },
  );
});

/** In the page: frames drawn from the arrival of the message until its answer is on screen. */
async function framesUntilShown(message: unknown): Promise<number> {
  const arrival = new Promise((done) => window.addEventListener("message", done, { once: true }));
  window.postMessage(message, "*");
  await arrival;
  for (let frames = 1; ; frames++) {
    await new Promise((done) => requestAnimationFrame(done));
    if (document.querySelector(".notice.what-if") !== null || frames > 100) return frames;
  }
}
