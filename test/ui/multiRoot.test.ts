import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, inject, it } from "vitest";
import { openWorkbench, screenshotWhenFailed, type Workbench } from "./support/workbench";

let folder: string;
let workbench: Workbench;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-roots-"));
  for (const [name, text] of [
    ["harbour/pier.txt", "one pier\n"],
    ["harbour/drawings/.gitignore", "*.tmp\n"],
    ["harbour/drawings/plan.tmp", "not counted\n"],
    ["lighthouse/lamp.txt", "one lamp, and a word more\n"],
  ] as const) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  const several = path.join(folder, "coast.code-workspace");
  await writeFile(several, JSON.stringify({ folders: [{ path: "harbour" }, { path: "lighthouse" }] }));
  workbench = await openWorkbench({ vsix: [inject("vsix")], open: several });
});
afterAll(async () => {
  await workbench.close();
  await rm(folder, { recursive: true, force: true });
});
screenshotWhenFailed(() => workbench);

describe("a workspace of several folders", () => {
  it("is counted as one: the files of every folder, by each folder's own ignore files", async () => {
    await workbench.statusBarItem().waitFor();
    await workbench.runCommand("Llama Gauge: Estimate Workspace");
    const room = workbench.webview().getByRole("region", { name: "Room" });
    await room.getByRole("button", { name: "Table" }).click();
    const table = room.getByRole("table", { name: "Files by tokens" });
    for (const name of ["pier.txt", "lamp.txt", ".gitignore"]) await table.getByText(name).waitFor();
    await table.getByRole("row").nth(3).waitFor();
    await table.getByText("plan.tmp").waitFor({ state: "detached" });
    await room.getByText("All files are in the prompt.").waitFor();
  });
});
