import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { commands, ConfigurationTarget, Position, Uri, window, workspace, WorkspaceEdit } from "vscode";
import { activated, configure, copiedBy, diagnostic, estimated, until } from "./support";

/** Where the tests put files of their own. */
let place: string;
const at = (name: string): string => path.join(place, name);
const put = (name: string, content: string | Uint8Array): void => {
  mkdirSync(path.dirname(at(name)), { recursive: true });
  writeFileSync(at(name), content);
};
const estimate = async (...names: readonly string[]): Promise<void> => {
  const uris = names.map((name) => Uri.file(at(name)));
  await estimated("llamaGauge.estimate", uris[0], uris);
};
const prompt = (): Promise<string> => copiedBy("llamaGauge.copyPackedPrompt");
const tokensInFiles = async (): Promise<number> =>
  ((await diagnostic("Acceptance")) as { readonly parts: { readonly files: number } }).parts.files;
const counted = async (): Promise<number> =>
  Number(/^(\d+) counted/.exec(String(await diagnostic("Files")))?.[1]);

async function insert(uri: Uri, text: string): Promise<void> {
  const edit = new WorkspaceEdit();
  edit.insert(uri, new Position(0, 0), text);
  assert.ok(await workspace.applyEdit(edit));
}

describe("scopes in VS Code", () => {
  before(async () => {
    await activated();
    const root = workspace.workspaceFolders?.[0]?.uri;
    if (root === undefined) throw new Error("no folder is open");
    place = path.join(root.fsPath, "scopes");
    await configure({ "server.url": "http://127.0.0.1:9", showPanelOnEstimate: false });
    // the browser's VS Code saves by itself
    await workspace.getConfiguration("files").update("autoSave", "off", ConfigurationTarget.Global);
  });
  after(async () => {
    await commands.executeCommand("workbench.action.closeAllEditors");
    rmSync(place, { recursive: true, force: true });
    await configure({ "server.url": undefined, showPanelOnEstimate: undefined });
    await workspace.getConfiguration("files").update("autoSave", undefined, ConfigurationTarget.Global);
  });

  describe("what an estimate in VS Code reads", () => {
    it("is the text on screen where it is not saved", async () => {
      put("unsaved/a.txt", "on disk\n");
      put("unsaved/b.txt", "untouched\n");
      const document = await workspace.openTextDocument(at("unsaved/a.txt"));
      await insert(document.uri, "typed and not saved, ");
      assert.equal(document.isDirty, true);
      await estimate("unsaved");
      assert.match(await prompt(), /\ntyped and not saved, on disk\n[^]*\nuntouched\n/);
      await window.showTextDocument(document);
      await commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
      await until("the text on disk", async () => !(await prompt()).includes("typed") || undefined);
    });

    it("is decoded as the editor decodes it", async () => {
      // 港の時刻表 in Shift_JIS
      put(
        "encoded/table.txt",
        Uint8Array.from([0x8d, 0x60, 0x82, 0xcc, 0x8e, 0x9e, 0x8d, 0x8f, 0x95, 0x5c, 0x0a]),
      );
      put("encoded/utf16.txt", Buffer.from("\ufeff潮位\n", "utf16le"));
      const files = workspace.getConfiguration("files");
      await files.update("encoding", "shiftjis", ConfigurationTarget.Global);
      try {
        await estimate("encoded");
        const text = await prompt();
        assert.match(text, /\n港の時刻表\n/);
        assert.match(text, /\n潮位\n/);
        const document = await workspace.openTextDocument(at("encoded/table.txt"));
        assert.ok(text.includes(document.getText()));
      } finally {
        await files.update("encoding", undefined, ConfigurationTarget.Global);
      }
    });

    it("is the cells of a notebook", async () => {
      const cell = (source: string[]): object => ({
        cell_type: "code",
        metadata: {},
        source,
        outputs: output,
      });
      const output = [{ output_type: "stream", name: "stdout", text: ["an output\n"] }];
      const cells = [cell(["tide = 3\n", "print(tide)"]), cell(["done = True"])];
      put("book/tides.ipynb", JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }));
      await estimate("book");
      const text = await prompt();
      assert.match(text, /\ntide = 3\nprint\(tide\)\n\ndone = True\n/);
      assert.doesNotMatch(text, /an output|cell_type/);
    });
  });

  describe("a report in VS Code", () => {
    it("follows saved, created and deleted files and texts that are not saved", async () => {
      put("live/a.txt", "one two three\n");
      await estimate("live");
      const atFirst = await tokensInFiles();
      const document = await workspace.openTextDocument(at("live/a.txt"));
      await insert(document.uri, "four five six seven ");
      const edited = await until("the edit to count", async () => {
        const now = await tokensInFiles();
        return now > atFirst && (await diagnostic("State")) === "ready" ? now : undefined;
      });
      await document.save();
      put("live/b.txt", "written by another program\n");
      await until("the new file to count", async () => {
        return ((await counted()) === 2 && (await tokensInFiles()) > edited) || undefined;
      });
      rmSync(at("live/b.txt"));
      await until("the deleted file to go", async () => (await counted()) === 1 || undefined);
      put("live/a.txt", "one\n");
      await until("the file on disk", async () => (await tokensInFiles()) < atFirst || undefined);
    });
  });

  describe("git changes in VS Code", () => {
    const git = (...args: readonly string[]): void => {
      const user = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
      execFileSync("git", [...user, ...args], { cwd: path.dirname(place), stdio: "pipe" });
    };
    const changes = async (scope: string, as: string): Promise<string> => {
      await estimated("llamaGauge.estimateGitChanges", { scope, as });
      return prompt();
    };

    before(() => {
      put("git/kept.txt", "kept\n");
      put("git/staged.txt", "before\n");
      put("git/working.txt", "before\n");
      git("init", "--quiet", "--initial-branch=main");
      git("add", ".");
      git("commit", "--quiet", "--message=start");
      git("checkout", "--quiet", "-b", "topic");
      put("git/branch.txt", "on the branch\n");
      git("add", ".");
      git("commit", "--quiet", "--message=topic");
      put("git/staged.txt", "staged text\n");
      git("add", ".");
      put("git/working.txt", "working text\n");
      put("git/untracked.txt", "untracked text\n");
    });
    after(() => rmSync(path.join(path.dirname(place), ".git"), { recursive: true }));

    it("are the files that changed", async () => {
      const working = await changes("workingTree", "files");
      assert.match(working, /\nworking text\n/);
      assert.match(working, /\nuntracked text\n/);
      assert.match(working, /\nstaged text\n/);
      assert.doesNotMatch(working, /kept|on the branch/);
      const staged = await changes("staged", "files");
      assert.match(staged, /## scopes\/git\/staged\.txt\n/);
      assert.doesNotMatch(staged, /working|untracked/);
      const branch = await changes("branch", "files");
      assert.match(branch, /\non the branch\n/);
      assert.doesNotMatch(branch, /kept/);
    });

    it("or the diff", async () => {
      const working = await changes("workingTree", "diff");
      assert.match(working, /\n-before\n\+working text\n/);
      assert.match(working, /\n\+untracked text\n/);
      const staged = await changes("staged", "diff");
      assert.match(staged, /\n-before\n\+staged text\n/);
      assert.doesNotMatch(staged, /working text/);
    });

    it("follow git's index", async () => {
      await changes("staged", "files");
      assert.equal(await counted(), 1);
      git("add", "scopes/git/working.txt");
      await until("what was staged now", async () => (await counted()) === 2 || undefined);
    });
  });
});
