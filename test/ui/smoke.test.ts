import { access } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openWorkbench, screenshotWhenFailed, type Theme, type Workbench } from "./support/workbench";

let workbench: Workbench;
beforeAll(async () => {
  workbench = await openWorkbench({ vsix: [inject("vsix")] });
});
afterAll(() => workbench.close());
screenshotWhenFailed(() => workbench);

describe("the packaged extension in VS Code", () => {
  it("is installed", async () => {
    await workbench.runCommand("Extensions: Show Installed Extensions");
    await workbench.page.locator(".extension-list-item", { hasText: "llama-gauge" }).first().waitFor();
    await workbench.runCommand("View: Show Explorer");
  });

  it("shows the sample workspace, and a file of it", async () => {
    await workbench.expand("native");
    await workbench.openFile("frame.c");
    await workbench.page.locator(".monaco-editor .view-line", { hasText: "crc16" }).first().waitFor();
    await access(path.join(workbench.workspace, "native/frame.c"));
  });

  it("takes a changed setting", async () => {
    await workbench.configure({ "breadcrumbs.enabled": false, "workbench.statusBar.visible": false });
    await workbench.page.locator(".statusbar-item").first().waitFor({ state: "hidden" });
    await workbench.configure({ "workbench.statusBar.visible": true });
    await workbench.page.locator(".statusbar-item").first().waitFor();
  });

  it.each(["light", "dark", "highContrast", "highContrastLight"] satisfies Theme[])(
    "wears the theme %s",
    async (theme) => {
      await workbench.setTheme(theme);
      const file = await workbench.screenshot(`smoke-${theme}`);
      await access(file);
      expect(workbench.server.extensionHostEnds()).toEqual([]);
    },
  );
});
