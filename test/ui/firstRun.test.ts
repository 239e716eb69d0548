import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { noOtherServer } from "./support/noOtherServer";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

const apiKey = "sesame-for-tests";

let server: LlamaServerProcess;
let trap: Server;
let trapped: string[];
let workbench: Workbench;

beforeAll(async () => {
  await noOtherServer();
  trap = createServer((request, response) => {
    trapped.push(request.url ?? "");
    response.writeHead(404).end();
  });
  trapped = [];
  await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
  server = await startLlamaServer({
    model: await forgedModel(),
    args: ["-c", "8192", "-np", "1", "--api-key", apiKey],
  });
  workbench = await openWorkbench({ vsix: [inject("vsix")], workspaceTrust: true });
});
afterAll(async () => {
  await workbench.close();
  await server.stop();
  trap.close();
});
screenshotWhenFailed(() => workbench);

const trapUrl = (): string => `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
const heading = (name: RegExp): Locator => workbench.webview().getByRole("heading", { level: 1, name });
const button = (name: string): Locator => workbench.webview().getByRole("button", { name, exact: true });
const input = (): Locator => workbench.page.locator(".quick-input-widget input").first();

describe("the first run, with nothing configured, in a workspace that is not trusted", () => {
  it("has one item in the status bar and a view that says what to do", async () => {
    await workbench.statusBarItem().filter({ hasText: "Llama Gauge" }).waitFor();
    await workbench.togglePane(path.basename(workbench.workspace), false);
    await workbench.togglePane("Tokens", true);
    await workbench.page.locator(".welcome-view-content", { hasText: "Right-click files" }).waitFor();
    await workbench.screenshot("first-run");
  });

  it("counts, says that the count is an assumption, and what comes next", async () => {
    await mkdir(path.join(workbench.workspace, ".vscode"), { recursive: true });
    await writeFile(
      path.join(workbench.workspace, ".vscode/settings.json"),
      JSON.stringify({ "llamaGauge.server.url": trapUrl(), "llamaGauge.model": "/dev/zero" }),
    );
    // where another try finds a report, the view has no such button any more
    const first = workbench.page.getByRole("button", { name: "Estimate Workspace" });
    await first.or(workbench.pane("Tokens").locator(".monaco-list-row")).first().waitFor();
    if (await first.isVisible()) await first.click();
    else await workbench.runCommand("Llama Gauge: Estimate Workspace");
    await heading(/^≈ .* tokens\. Whether they fit is not known yet\.$/).waitFor();
    await workbench
      .webview()
      .getByText(/^estimated tokens ± \d/)
      .waitFor();
    await button("Choose server").waitFor();
    await button("Choose model").first().waitFor();
  });

  it("has not used the address that came with the workspace, and says so", async () => {
    expect(trapped).toEqual([]);
    await workbench.webview().getByText("This workspace is not trusted.").waitFor();
    await workbench.screenshot("untrusted");
  });

  it("uses it once the workspace is trusted", async () => {
    const untrusted = workbench.webview().getByText("This workspace is not trusted.");
    if (await untrusted.isVisible()) {
      await button("Manage trust").click();
      await workbench.page.getByRole("button", { name: "Trust", exact: true }).click();
    }
    await workbench.runCommand("Llama Gauge: Show Panel");
    await untrusted.waitFor({ state: "hidden" });
    await button("Refresh").first().click();
    await expect.poll(() => trapped.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await workbench.webview().locator(".remedies", { hasText: trapUrl() }).waitFor();
  });
});

describe("choosing a server that wants an API key", () => {
  it("takes an address, asks for the key, and does not show it", async () => {
    await button("Choose server").click();
    await workbench.acceptRow("Enter an address");
    await workbench.page.locator(".quick-input-title", { hasText: "Address of llama-server" }).waitFor();
    await input().fill("nonsense://x");
    await workbench.page.locator(".quick-input-message", { hasText: "An http or https URL" }).waitFor();
    await input().fill(server.url);
    await workbench.page.keyboard.press("Enter");
    await workbench.page.locator(".quick-input-title", { hasText: `API key for ${server.url}` }).waitFor();
    await expect.poll(() => input().getAttribute("type")).toBe("password");
    await workbench.screenshot("api-key");
    await input().fill(apiKey);
    await workbench.page.keyboard.press("Enter");
    await heading(/^Fits\. /).waitFor();
    await workbench.webview().getByText("exact tokens").waitFor();
  });

  it("keeps the key and asks no more", async () => {
    await button("Refresh").first().click();
    await heading(/^Fits\. /).waitFor();
    await workbench.statusBarItem().filter({ hasText: "/ 8,192 tokens" }).waitFor();
    const diagnostics = await workbench.diagnostics(server.url);
    expect(diagnostics).not.toContain(apiKey);
  });

  it("survives a reload of the window with the report on show", async () => {
    const loaded = workbench.page.waitForEvent("load");
    // where the command itself fails, that is what is told
    loaded.catch(() => undefined);
    await workbench.runCommand("Developer: Reload Window");
    await loaded;
    await heading(/^Fits\. /).waitFor();
    await workbench
      .webview()
      .getByText(/Something has changed since this was counted/)
      .waitFor();
    await button("Refresh").first().click();
    // this host keeps secrets in memory only, so the key is wanted once more
    await workbench.page.locator(".quick-input-title", { hasText: `API key for ${server.url}` }).waitFor();
    await input().fill(apiKey);
    await workbench.page.keyboard.press("Enter");
    await workbench.statusBarItem().filter({ hasText: "/ 8,192 tokens" }).waitFor();
  });
});
