import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startHostileServer, type HostileServer } from "../support/hostileServer";
import { forgedModel } from "../support/forge/forgeModel";
import { llamaCppFolder } from "../support/llamaCpp";
import { extensionLog } from "../support/vscodeHost/extensionLog";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

/** Names and words of strangers, in every place of the window that reads some markup: they stay text there. */

const terminal = "command:workbench.action.terminal.new";
const hostile = `[click](${terminal}) $(flame) <img src=x onerror=alert(1)> \u202egpj.exe\n2026-01-01 00:00:00.000 [error] forged`;

let folder: string;
let server: HostileServer;
let workbench: Workbench;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "lg-foreign-"));
  server = await startHostileServer(hostile);
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** A workspace whose own name, folders and files are hostile. */
async function hostileWorkspace(name: string): Promise<string> {
  const root = path.join(folder, name, inOneLine);
  await mkdir(path.join(root, hostile), { recursive: true });
  // a run that long may crash llama-server, which is said with the file's name
  await writeFile(path.join(root, hostile, `${hostile}.txt`), `${"a".repeat(120_000)}\n`);
  await writeFile(path.join(root, `${hostile}.bin`), Uint8Array.from([0, 1, 2, 3]));
  for (const plan of ["a", "b"]) await writeFile(path.join(root, `${plan} ${inOneLine}.ladder.yaml`), "");
  await writeFile(path.join(root, "models.llama.ini"), preset);
  await writeFile(path.join(root, "server.log"), log);
  // its name is the model's id
  await symlink(await forgedModel(), path.join(folder, name, modelFile));
  await writeFile(
    path.join(root, "start.llama.ini"),
    `[$(flame)]\nm = ${path.join(folder, name, modelFile)}\nctx-size = 512\n`,
  );
  return root;
}

const modelFile = `[click](${terminal}).gguf`;
const inOneLine = hostile.replaceAll("\n", " ");
const inName = inOneLine.replaceAll(/[[\]]/g, "");
const preset = `[${inName}]\nm = ${inOneLine}\nctx-size = ${inOneLine}\n`;
const log = `0.00.001 E srv  load_model: failed to load model, '${inOneLine}'\n`;

interface Markup {
  readonly text: string;
  readonly links: readonly string[];
  readonly images: number;
  readonly icons: number;
}

/** What VS Code made of the words in a part of the window. */
const markupOf = (place: Locator): Promise<Markup> =>
  place.evaluate((element) => ({
    text: element.textContent,
    links: Array.from(element.querySelectorAll("a"), (link) => ({
      to: link.dataset["href"] ?? link.getAttribute("href") ?? "",
      text: link.textContent,
    })).flatMap(({ to, text }) => (text === "click" || /terminal\.new|flame/.test(to) ? [to || text] : [])),
    images: element.querySelectorAll('img[src="x"]').length,
    icons: element.querySelectorAll(".codicon-flame").length,
  }));

async function staysText(name: string, place: Locator): Promise<void> {
  await place.waitFor();
  await workbench.screenshot(`sinks-${name}`);
  const { text, ...markup } = await markupOf(place);
  expect(markup).toEqual({ links: [], images: 0, icons: 0 });
  // it is there, as the words that it is
  expect(text.replaceAll("\u2060", "")).toContain(`[click](${terminal})`);
  expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
}

const noIcon = async (place: Locator): Promise<void> => {
  const { icons, links } = await markupOf(place);
  expect({ icons, links }).toEqual({ icons: 0, links: [] });
};

const quickPick = (): Locator => workbench.page.locator(".quick-input-widget");
const toast = (text: string): Locator => workbench.notification(text);

describe("in a trusted workspace", () => {
  beforeAll(async () => {
    workbench = await openWorkbench({
      vsix: [inject("vsix")],
      open: await hostileWorkspace("trusted"),
      size: { width: 1280, height: 900 },
      settings: {
        "llamaGauge.server.url": server.url,
        "llamaGauge.showPanelOnEstimate": false,
        "llamaGauge.llamaCppFolder": await llamaCppFolder(),
        "editor.hover.delay": 100,
        "breadcrumbs.enabled": false,
      },
    });
  });
  afterAll(() => workbench.close());
  screenshotWhenFailed(() => workbench);

  it("the title of a progress, with the name of a folder", async () => {
    server.tokenize = "wait";
    await workbench.runCommand("Llama Gauge: Estimate Workspace");
    await staysText("progress", toast("Counting the tokens of"));
    await workbench.runCommand("Llama Gauge: Cancel");
    await toast("Counting the tokens of").waitFor({ state: "hidden" });
  });

  it("an error, with the words of a server", async () => {
    server.tokenize = "refuse";
    await workbench.runCommand("Llama Gauge: Estimate Workspace");
    await staysText("error", toast("rejected"));
    await workbench.closeNotifications();
  });

  it("the tooltip of the status bar, with the names of folder and model", async () => {
    server.tokenize = "count";
    await workbench.runCommand("Llama Gauge: Estimate Workspace");
    await workbench.statusBarItem().filter({ hasText: "tokens" }).waitFor();
    await workbench.page.mouse.move(800, 20);
    await workbench.statusBarItem().hover();
    await staysText("tooltip", workbench.page.locator(".monaco-hover", { hasText: "Chat template" }).first());
    await workbench.page.mouse.move(800, 20);
  });

  it("the rows of the tree, and what was left out", async () => {
    // the folder's own tree makes room
    await workbench.togglePane("[click]", false);
    await workbench.togglePane("Tokens", true);
    await workbench.pane("Tokens").locator(".monaco-list-row", { hasText: "Not counted" }).click();
    await workbench.pane("Tokens").locator(".monaco-list-row", { hasText: ".bin" }).waitFor();
    await staysText("tree", workbench.pane("Tokens").locator(".pane-body"));
  });

  it("a choice of models, with the ids that a server lists", async () => {
    await workbench.runCommand("Llama Gauge: Choose Server…");
    await workbench.acceptRow("Enter an address");
    await workbench.page.locator(".quick-input-title", { hasText: "Address of llama-server" }).waitFor();
    await workbench.page.locator(".quick-input-widget input").first().fill(server.url);
    await workbench.page.keyboard.press("Enter");
    await workbench.quickPickRow("second").waitFor();
    await staysText("models", quickPick());
    await workbench.page.keyboard.press("Escape");
  });

  it("a choice of plans, with the names of files", async () => {
    await workbench.runCommand("View: Close All Editors");
    await workbench.runCommand("Llama Gauge: Run Ladder");
    await workbench.quickPickRow("ladder.yaml").waitFor();
    await staysText("plans", quickPick());
    await workbench.page.keyboard.press("Escape");
  });

  it("the lines of the log", async () => {
    const lines = (await extensionLog(workbench.server.userDataDir, 1000)).split("\n");
    expect(lines.filter((line) => line.includes("forged")).length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.startsWith("2026-01-01"))).toEqual([]);
  });

  it("a hover and a finding of a preset, with a section's name and a value", async () => {
    await workbench.togglePane("[click]", true);
    await workbench.openFile("models.llama.ini");
    const { page } = workbench;
    await page.locator(".codelens-decoration").first().waitFor();
    await page.locator(".view-line").first().locator("span span").first().hover();
    await staysText("preset", page.locator(".monaco-hover", { hasText: "Model:" }).first());
    await page.keyboard.press("Escape");
  });

  it("the explanation of a log", async () => {
    await workbench.openFile("server.log");
    await workbench.runCommand("Llama Gauge: Explain This llama.cpp Log");
    const page = workbench.webview().locator("body", { hasText: "What this log shows" });
    await staysText("explained", page);
  });

  it("the news that a server is up, the question whether to start it again, and its terminal", async () => {
    await workbench.openFile("start.llama.ini");
    const start = workbench.page.locator(".codelens-decoration a", { hasText: /^Start$/ });
    await start.first().click();
    await staysText("up", toast("is running at"));
    await workbench.screenshot("sinks-terminal");
    await noIcon(workbench.page.locator(".part.panel"));
    await start.first().click();
    const question = workbench.page.locator(".monaco-dialog-box", { hasText: "is already running" });
    await question.getByText("$\u2060(flame)").waitFor();
    await noIcon(question);
    await workbench.page.keyboard.press("Escape");
    await question.waitFor({ state: "hidden" });
  });
});

describe("in a workspace that nobody trusts", () => {
  beforeAll(async () => {
    workbench = await openWorkbench({
      vsix: [inject("vsix")],
      open: await hostileWorkspace("restricted"),
      workspaceTrust: true,
      // nobody listens there
      settings: { "llamaGauge.server.url": "http://127.0.0.1:9", "llamaGauge.showPanelOnEstimate": false },
    });
  });
  afterAll(() => workbench.close());
  screenshotWhenFailed(() => workbench);

  it("a warning, with the name of a file", async () => {
    await workbench.runCommand("Llama Gauge: Estimate Workspace");
    await workbench.statusBarItem().filter({ hasText: "tokens" }).waitFor();
    await workbench.runCommand("Llama Gauge: Copy Packed Prompt");
    await staysText("restricted", toast("may crash"));
  });
});
