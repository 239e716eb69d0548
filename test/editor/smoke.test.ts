import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { commands, extensions, version, workspace } from "vscode";
import { repository } from "../support/repository";

interface Manifest {
  readonly version: string;
  readonly engines: { readonly vscode: string };
  readonly contributes?: { readonly commands?: readonly { readonly command: string }[] };
}

const manifest = JSON.parse(readFileSync(path.join(repository, "package.json"), "utf8")) as Manifest;

describe("the extension in VS Code", () => {
  it("is loaded from this checkout and activates", async () => {
    const extension = extensions.getExtension("llama-gauge.llama-gauge");
    assert.ok(extension, "VS Code does not know the extension");
    assert.equal((extension.packageJSON as Manifest).version, manifest.version);
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it("runs in a VS Code that its manifest allows", () => {
    const [major, minor] = version.split(".").map(Number);
    const [, floorMajor, floorMinor] = /(\d+)\.(\d+)/.exec(manifest.engines.vscode) ?? [];
    assert.equal(major, Number(floorMajor));
    assert.ok(Number(minor) >= Number(floorMinor), version);
  });

  it("registers every command its manifest promises", async () => {
    await extensions.getExtension("llama-gauge.llama-gauge")?.activate();
    const registered = new Set(await commands.getCommands(true));
    const promised = (manifest.contributes?.commands ?? []).map(({ command }) => command);
    assert.deepEqual(
      promised.filter((command) => !registered.has(command)),
      [],
    );
  });

  it("has the sample workspace open", async () => {
    assert.equal(workspace.workspaceFolders?.length, 1);
    const found = await workspace.findFiles("**/*.c");
    assert.ok(found.some((uri) => uri.path.endsWith("/native/frame.c")));
  });
});
