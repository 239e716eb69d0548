import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { GitScope } from "../../src/core/tokens/gitScope";
import { UserError } from "../../src/core/userError";
import { changedFiles, changesAsDiff, globalExcludesFile } from "../../src/node/files/gitChanges";

/** Changes as the real git sees them. */

const never = new AbortController().signal;
let root: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(os.tmpdir(), "gauge-git-")));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function git(...args: readonly string[]): Promise<string> {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"];
  return (await execa("git", [...identity, ...args], { cwd: root, stdin: "ignore" })).stdout;
}

async function put(name: string, text: string): Promise<void> {
  const file = path.join(root, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

async function commit(message: string): Promise<void> {
  await git("add", "--all");
  await git("commit", "--quiet", "--message", message);
}

async function names(scope: GitScope, folder = root): Promise<string[]> {
  const { files, repository } = await changedFiles(folder, scope, never);
  expect(repository).toBe(root);
  return files.map((file) => path.relative(root, file));
}

async function sampleRepository(): Promise<void> {
  await git("init", "--quiet");
  await put("kept.txt", "kept\n");
  await put("old.txt", "old\n");
  await put("src/a.ts", "let a = 1;\n");
  await commit("first");
  await git("switch", "--quiet", "--create", "feature");
  await put("src/feature.ts", "let feature;\n");
  await commit("feature");
  await put("src/a.ts", "let a = 2;\n");
  await git("add", "src/a.ts");
  await put("kept.txt", "changed\n");
  await unlink(path.join(root, "old.txt"));
  await put("日本 \n.txt", "new\n");
  await put(".gitignore", "*.log\n");
  await put("ignored.log", "no\n");
}

describe("git changes", () => {
  it("lists the working tree, untracked files included, ignored and deleted ones not", async () => {
    await sampleRepository();
    expect(await names({ kind: "workingTree" })).toEqual([
      ".gitignore",
      "kept.txt",
      "src/a.ts",
      "日本 \n.txt",
    ]);
    expect(await names({ kind: "workingTree" }, path.join(root, "src"))).toEqual(["src/a.ts"]);
  });

  it("lists what is staged, and what a branch adds", async () => {
    await sampleRepository();
    expect(await names({ kind: "staged" })).toEqual(["src/a.ts"]);
    expect(await names({ kind: "branch" })).toEqual(["kept.txt", "src/a.ts", "src/feature.ts"]);
    const { against } = await changedFiles(root, { kind: "branch", base: "main" }, never);
    expect(against).toBe(`main (${(await git("rev-parse", "main")).slice(0, 7)})`);
  });

  it("gives the same changes as a diff that git itself can apply", async () => {
    await sampleRepository();
    const diff = await changesAsDiff(root, { kind: "workingTree" }, never);
    await git("stash", "--include-untracked", "--quiet");
    await writeFile(path.join(root, "..", `${path.basename(root)}.diff`), diff);
    try {
      await git("apply", path.join(root, "..", `${path.basename(root)}.diff`));
      expect(await names({ kind: "workingTree" })).toEqual([
        ".gitignore",
        "kept.txt",
        "src/a.ts",
        "日本 \n.txt",
      ]);
      expect(await git("diff", "--name-only", "--diff-filter=D")).toBe("old.txt");
    } finally {
      await rm(path.join(root, "..", `${path.basename(root)}.diff`));
    }
    expect(await changesAsDiff(root, { kind: "staged" }, never)).toBe("");
  });

  it("treats everything as new before the first commit", async () => {
    await git("init", "--quiet");
    await put("a.txt", "a\n");
    await put("b.txt", "b\n");
    await git("add", "a.txt");
    expect(await names({ kind: "workingTree" })).toEqual(["a.txt", "b.txt"]);
    expect(await names({ kind: "staged" })).toEqual(["a.txt"]);
    expect(await changesAsDiff(root, { kind: "staged" }, never)).toContain(
      "+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n",
    );
  });

  it("neither takes locks nor writes anything", async () => {
    await sampleRepository();
    const before = await readdir(path.join(root, ".git"), { recursive: true });
    await writeFile(path.join(root, ".git/index.lock"), "");
    await names({ kind: "workingTree" });
    await changesAsDiff(root, { kind: "workingTree" }, never);
    await unlink(path.join(root, ".git/index.lock"));
    expect(await readdir(path.join(root, ".git"), { recursive: true })).toEqual(before);
  });

  it.each([
    ["outside of a repository", { kind: "workingTree" }, "invalidInput"],
    ["without such a branch", { kind: "branch", base: "no-such-branch" }, "notFound"],
    ["with a branch that looks like an option", { kind: "branch", base: "--output=x" }, "notFound"],
  ] as const)("says what is wrong %s", async (_, scope, reason) => {
    if (reason === "notFound") await sampleRepository();
    const error = await changedFiles(root, scope, never).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({ reason });
  });

  it("runs nothing that the repository names", async () => {
    await sampleRepository();
    const ran = path.join(root, "..", `${path.basename(root)}-ran`);
    const program = path.join(root, ".git", "program");
    await writeFile(program, `#!/bin/sh\necho "$0 $*" >> '${ran}'\ncat\n`, { mode: 0o755 });
    await put(".gitattributes", "* filter=mine diff=mine\n");
    for (const key of [
      ...["filter.mine.clean", "filter.mine.smudge", "diff.mine.textconv"],
      ...["diff.mine.command", "diff.external", "core.fsmonitor", "core.sshCommand", "core.pager"],
      ...["core.askPass", "core.editor", "alias.diff", "alias.config", "gpg.program"],
    ]) {
      await git("config", key, key.startsWith("alias.") ? `!${program}` : program);
    }
    await git("config", "filter.mine.required", "true");
    const hooks = path.join(root, ".git", "hooks");
    for (const hook of ["post-index-change", "fsmonitor-watchman", "reference-transaction"]) {
      await symlink(program, path.join(hooks, hook));
    }
    // git itself would have run it: that is what is being prevented
    await git("--no-pager", "-c", "core.fsmonitor=false", "diff", "main").catch(() => undefined);
    expect(await readFile(ran, "utf8")).not.toBe("");
    await rm(ran);
    await git("config", "filter.mine.process", program);
    expect(await names({ kind: "workingTree" })).toContain("kept.txt");
    expect(await names({ kind: "staged" })).toEqual(["src/a.ts"]);
    expect(await names({ kind: "branch", base: "main" })).toContain("src/feature.ts");
    expect(await changesAsDiff(root, { kind: "workingTree" }, never)).toContain("+changed");
    await expect(readFile(ran)).rejects.toThrow("ENOENT");
  });

  it("runs the filters that the user set up, as for git-lfs", async () => {
    await sampleRepository();
    const home = await mkdtemp(path.join(os.tmpdir(), "gauge-home-"));
    const settings = path.join(home, "config");
    await writeFile(settings, '[filter "mine"]\n\tclean = tr a-z A-Z\n');
    await put(".gitattributes", "kept.txt filter=mine\n");
    const before = process.env["GIT_CONFIG_GLOBAL"];
    process.env["GIT_CONFIG_GLOBAL"] = settings;
    try {
      expect(await changesAsDiff(root, { kind: "workingTree" }, never)).toContain("+CHANGED");
    } finally {
      if (before === undefined) delete process.env["GIT_CONFIG_GLOBAL"];
      else process.env["GIT_CONFIG_GLOBAL"] = before;
      await rm(home, { recursive: true });
    }
  });

  it("never asks the remote of a partial clone", async () => {
    await sampleRepository();
    const clone = `${root}-clone`;
    const asked = `${root}-asked`;
    const upload = path.join(root, ".git", "upload");
    await writeFile(upload, `#!/bin/sh\necho asked >> '${asked}'\nexec git-upload-pack "$@"\n`, {
      mode: 0o755,
    });
    await git("config", "uploadpack.allowFilter", "true");
    await git("config", "uploadpack.allowAnySHA1InWant", "true");
    const source = ["--filter=blob:none", "--no-checkout", "--upload-pack", upload, `file://${root}`, clone];
    await git("clone", "--quiet", ...source);
    const inClone = async (...args: readonly string[]): Promise<unknown> =>
      execa("git", ["-C", clone, ...args], { env: { GIT_ALLOW_PROTOCOL: "file" } });
    await inClone("config", "remote.origin.uploadpack", upload);
    // the settings of a repository may allow what is not allowed in general
    await inClone("config", "protocol.file.allow", "always");
    await inClone("read-tree", "HEAD");
    await rm(asked);
    const { files } = await changedFiles(clone, { kind: "branch", base: "origin/main" }, never);
    expect(files).toEqual([]);
    const diff = changesAsDiff(clone, { kind: "branch", base: "origin/main" }, never);
    await expect(diff).rejects.toMatchObject({ reason: "unsupported" });
    await expect(readFile(asked)).rejects.toThrow("ENOENT");
    // git itself would have asked
    await inClone("diff", "origin/main", "HEAD");
    expect(await readFile(asked, "utf8")).toContain("asked");
    await rm(clone, { recursive: true });
    await rm(asked);
  });

  it("leaves no git behind when cancelled", async () => {
    await sampleRepository();
    const controller = new AbortController();
    const running = changedFiles(root, { kind: "workingTree" }, controller.signal);
    controller.abort(new Error("cancelled"));
    await expect(running).rejects.toThrow("cancelled");
  });
});

describe("the user's own ignore file", () => {
  it.each([[""], ["relative"]])("is found where XDG_CONFIG_HOME is %j, as git finds it", async (variable) => {
    const file = path.join(root, "home/.config/git/ignore");
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, "*.log\n");
    await execa("git", ["init", "-q"], { cwd: root });
    const env = { HOME: path.join(root, "home"), XDG_CONFIG_HOME: variable };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    try {
      const ignored = await execa("git", ["check-ignore", "x.log"], { cwd: root, reject: false });
      expect(await globalExcludesFile(root, never)).toBe(ignored.exitCode === 0 ? file : undefined);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
