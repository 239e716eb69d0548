import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, inject, it } from "vitest";
import { forgedModel } from "../support/forge/forgeModel";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

const preset = `; the models of this machine
[*]
ngl = 99
np = 1

[writer]
m = models/writer.gguf
ctx-size = 16384
fa = off
ctv = q8_0

[coder]
m = models/coder.gguf
ctx-size = 32768
ctk = q8_0
ctv = q8_0
`;

/** llama-server rejects the whole file for it. */
const misspelled = "[writer]\nm = models/writer.gguf\nctx-szie = 16384\n";

let folder: string;
let workbench: Workbench;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "lg-presets-"));
  await mkdir(path.join(folder, "models"));
  const model = await forgedModel({ size: "slope" });
  for (const name of ["coder", "writer"]) await symlink(model, path.join(folder, "models", `${name}.gguf`));
  await writeFile(path.join(folder, "harbour.llama.ini"), preset);
  await writeFile(path.join(folder, "misspelled.llama.ini"), misspelled);
  workbench = await openWorkbench({
    vsix: [inject("vsix")],
    open: folder,
    size: { width: 1100, height: 640 },
    settings: {
      "editor.minimap.enabled": false,
      "editor.hover.delay": 100,
      "editor.hover.above": false,
      "breadcrumbs.enabled": false,
    },
  });
});
afterAll(async () => {
  await workbench.close();
  await rm(folder, { recursive: true, force: true });
});
screenshotWhenFailed(() => workbench);

const line = (text: string): Locator => workbench.page.locator(".view-line", { hasText: text }).first();
const lens = (text: RegExp): Locator => workbench.page.locator(".codelens-decoration", { hasText: text });
const hover = (text: string): Locator => workbench.page.locator(".monaco-hover", { hasText: text }).first();

describe("a preset, as somebody sees it who opens one", () => {
  it("says above each section what it costs, and marks what is wrong", async () => {
    await workbench.openFile("harbour.llama.ini");
    await lens(/32,768 tokens per slot.*Probe.*Start.*Copy as command line/)
      .first()
      .waitFor();
    await workbench.page.locator(".squiggly-error").first().waitFor();
    await workbench.page.locator(".view-lines", { hasText: "32,768 tokens per slot, KV" }).waitFor();
  });

  it("explains a section where the pointer rests, and is the document's picture", async () => {
    await workbench.openFile("harbour.llama.ini");
    await lens(/32,768 tokens per slot/)
      .first()
      .waitFor();
    await line("[coder]").locator("span span").nth(1).hover();
    await hover("per token").waitFor();
    await workbench.screenshot("presets");
    await workbench.page.keyboard.press("Escape");
  });

  it("leads from a finding to its explanation", async () => {
    await workbench.openFile("misspelled.llama.ini");
    await lens(/Will not start: 1 error/)
      .first()
      .waitFor();
    await workbench.page.locator(".squiggly-error").first().waitFor();
    await line("ctx-szie").locator("span span").first().hover();
    const link = hover("did you mean ctx-size").locator("a", { hasText: "unknownKey" });
    await link.click();
    await workbench.page.locator(".tab.active", { hasText: "unknownKey.md" }).waitFor();
    await line("llama-server does not know the option and rejects the file").waitFor();
  });

  it("shows a section's budget as a table", async () => {
    await workbench.openFile("harbour.llama.ini");
    await lens(/32,768 tokens per slot/)
      .first()
      .locator("a")
      .first()
      .click();
    const page = workbench.webview();
    await page.getByRole("heading", { name: /^Memory of (coder|writer)$/ }).waitFor();
    await page.getByRole("cell", { name: "Host" }).waitFor();
    await workbench.screenshot("presets-budget");
  });
});
