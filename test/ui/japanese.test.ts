import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

let server: LlamaServerProcess;
let workbench: Workbench;

beforeAll(async () => {
  server = await startLlamaServer({
    model: await forgedModel(),
    args: ["-c", "8192", "-np", "1", "--alias", "tiny"],
  });
  workbench = await openWorkbench({
    vsix: [inject("vsix")],
    language: "ja",
    settings: { "llamaGauge.server.url": server.url, "workbench.tree.expandMode": "doubleClick" },
  });
});
afterAll(async () => {
  await workbench.close();
  await server.stop();
});
screenshotWhenFailed(() => workbench);

/** English words that stay: names of programs, files, models and technical terms, and llama.cpp's own values. */
const stays =
  /^(Llama|Gauge|llama|server|llama-server|gguf|KV|MiB|GiB|KiB|RAM|Host|CPU|src|ts|css|tides|board|qwen\w*|tiny|f16|K|V|full|of|http|ms|s|B|ubatch|flash|attention|auto|on|off)$/i;
/** llama.cpp's options, its endpoints and the types of its tensors. */
const options = /(?<![\w-])--?[a-z][a-z-]*|\/slots\b|\b(?:bf16|iq\d\w*|q\d\w*)\b/g;

describe("the extension in Japanese", () => {
  it("offers its command in Japanese", async () => {
    await workbench.statusBarItem().waitFor();
    await workbench.contextMenu(["src"], "Llama Gauge: コンテキストコストを見積もる");
    await workbench
      .statusBarItem()
      .filter({ hasText: /[\d,]+ \/ 8,192 トークン/ })
      .waitFor();
  });

  it("has the view and the panel in Japanese, with no English left", async () => {
    await workbench.page.locator(".pane-header", { hasText: "トークン" }).waitFor();
    const panel = workbench.webview();
    await panel.getByRole("heading", { level: 1, name: /^収まります。8,192 トークン中 [\d,]+$/ }).waitFor();
    const text = await panel.locator("main").innerText();
    const words = (
      text.replaceAll(options, "").match(/[A-Za-z][A-Za-z.'-]*[A-Za-z]|\b[A-Z]\b/g) ?? []
    ).flatMap((word) => word.split(/[.-]/));
    expect(words.filter((word) => word !== "" && !stays.test(word))).toEqual([]);
    await workbench.screenshot("main-job-ja");
  });
});
