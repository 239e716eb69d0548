import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { Agent, someTokens } from "../support/agent";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { postJson } from "../support/postJson";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

/** A depth probe on a real llama-server, as it looks while it runs and afterwards, and one that is stopped. */

const folder = mkdtempSync(path.join(os.tmpdir(), "gauge-log-"));
let server: LlamaServerProcess;
let workbench: Workbench;

beforeAll(async () => {
  const model = await forgedModel({ size: "slope", vocabulary: "qwen2_5" });
  const args = ["-c", "4096", "-np", "1", "-t", "1", "-tb", "1", "-b", "256", "-ub", "256"];
  args.push("--log-file", path.join(folder, "its.log"));
  server = await startLlamaServer({ model, args });
  workbench = await openWorkbench({
    vsix: [inject("vsix")],
    size: { width: 1280, height: 1300 },
    settings: { "llamaGauge.server.url": server.url, "llamaGauge.probeSeconds": 60 },
  });
});
afterAll(async () => {
  await workbench.close();
  await server.stop();
  rmSync(folder, { recursive: true });
});
screenshotWhenFailed(() => workbench);

const running = () => workbench.webview().locator("#wait .notice.measuring");
const toast = () => workbench.notification("Measuring prefill by depth");

it("says what it costs and what is left, in a notification, the panel and the status bar", async () => {
  await workbench.statusBarItem().waitFor();
  await workbench.runCommand("Llama Gauge: Estimate Workspace");
  await workbench.webview().getByRole("region", { name: "Wait" }).waitFor();
  await workbench.setTheme("dark");
  await workbench.runCommand("Llama Gauge: Run Depth Probe");
  await toast().waitFor();
  await running()
    .getByText(/The probe will read [\d,]+ tokens; about/)
    .waitFor();
  await running()
    .getByText(/\d s left\./)
    .waitFor();
  await workbench.statusBarItem("llamaGauge.speed").filter({ hasText: "left" }).waitFor();
  await running().scrollIntoViewIfNeeded();
  await workbench.screenshot("probe-running-dark");
});

it("ends in time with a curve, its watch and a wait with a band", async () => {
  await running().waitFor({ state: "hidden", timeout: 80_000 });
  await workbench.notification(/Prefill measured to [\d,]+ tokens/).waitFor();
  const panel = workbench.webview();
  const wait = panel.getByRole("region", { name: "Wait" });
  await wait
    .locator(".answer")
    .filter({ hasText: /^\s*≈ .*probed to [\d,]+ tokens just now; then [\d.,]+ t\/s/ })
    .waitFor();
  await wait.getByText(/^(clean|drift|contaminated)$/).waitFor();
  await wait.getByText(/^Another question about the same text reads [\d,]+ tokens again: ≈ /).waitFor();
  await panel
    .getByRole("region", { name: "Measured speed" })
    .getByText(/^History: \d+ runs?/)
    .waitFor();
  await workbench.statusBarItem("llamaGauge.speed").waitFor({ state: "hidden" });
  await workbench.closeNotifications();
  await wait.locator(".answer").scrollIntoViewIfNeeded();
  await workbench.screenshot("probe-result-dark");
  await workbench.setTheme("light");
  await workbench.screenshot("probe-result-light");
});

it("says how far a prompt of somebody else's is", async () => {
  const prompt = Array.from({ length: 3900 }, (_, i) => 1000 + ((i * 7919) % 50_000));
  const ask = { prompt, n_predict: 8, ignore_eos: true, cache_prompt: false };
  const ended = new AbortController();
  // an idle server is looked at every few seconds only: prompts until one was seen, however fast the machine reads
  const client = (async (): Promise<void> => {
    while (!ended.signal.aborted) await postJson(`${server.url}/completion`, ask);
  })();
  const live = workbench.statusBarItem("llamaGauge.speed").filter({ hasText: /[\d,]+ tokens read/ });
  try {
    await live.waitFor();
    // the server's log is followed, which its command line names: the length of the prompt is known from its lines
    await workbench
      .webview()
      .getByRole("region", { name: "Wait" })
      .getByText(/The server is reading a prompt: [\d,]+ (tokens so far|of 3,[89]\d\d tokens, )/)
      .waitFor();
    await workbench.screenshot("prefill-live");
  } finally {
    ended.abort();
    await client;
  }
  await live.waitFor({ state: "hidden" });
});

it("shows an agent's conversation from the log that the server's command line names", async () => {
  const card = workbench.webview().getByRole("region", { name: "Conversation" });
  await card.getByText(/From the log that the server's --log-file names: .*its\.log/).waitFor();
  const agent = new Agent(server.url, { system: someTokens(100, 1), answer: 10 });
  for (let turn = 1; turn <= 4; turn++) await agent.turn(someTokens(40, turn));
  // the slot holds the prompt and the answer but its last token: 100 + 4 × 50 - 1
  await card.locator(".answer").filter({ hasText: "Turn 4: 299 of 4,096." }).waitFor();
  // the last prompt had 290 tokens, and each turn adds 50
  await card.getByText(/About 76 more turns of this size until it is refused\./).waitFor();
  await workbench.statusBarItem("llamaGauge.conversation").filter({ hasText: "299 / 4,096" }).waitFor();
  await card.scrollIntoViewIfNeeded();
  await workbench.screenshot("conversation-live");
  await agent.turn(someTokens(4000, 9));
  await card.getByText("The last request was refused: 4,300 tokens, and the context holds 4,096.").waitFor();
});

it("can be stopped: the server is idle again at once, and what was measured is kept", async () => {
  await workbench.runCommand("Llama Gauge: Run Depth Probe");
  await running().waitFor();
  await running().scrollIntoViewIfNeeded();
  await workbench.screenshot("probe-running-light");
  await running()
    .getByText(/The probe will read/)
    .waitFor();
  await running().getByText("Stop").click();
  await running().waitFor({ state: "hidden" });
  const slots = async (): Promise<unknown> => (await fetch(`${server.url}/slots`)).json();
  await expect.poll(slots, { timeout: 30_000 }).toMatchObject([{ is_processing: false }]);
  const measured = workbench.webview().getByRole("region", { name: "Measured speed" });
  await measured.getByText(/^History: \d+ runs?/).click();
  await measured.getByText("Stopped by the user; what was measured so far is kept.").first().waitFor();
});
