import { execFileSync } from "node:child_process";
import { truncateSync } from "node:fs";
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  realpath,
  rm,
  symlink,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ListedFile, FileSource } from "../../../../src/core/files/files";
import { defaultWalkOptions, type FileRef, type WalkOptions } from "../../../../src/core/files/files";
import { UserError } from "../../../../src/core/userError";
import { workspaceFiles } from "../../../../src/node/files/workspaceFiles";

let root: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(os.tmpdir(), "gauge-files-")));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function put(name: string, content: string | Uint8Array = "text\n"): Promise<string> {
  const file = path.join(root, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

const never = new AbortController().signal;

async function list(
  options: Partial<WalkOptions> = {},
  roots: readonly string[] = [root],
  source: FileSource = workspaceFiles(),
): Promise<ListedFile[]> {
  const found: ListedFile[] = [];
  for await (const listed of source.list(roots, { ...defaultWalkOptions, ...options }, never))
    found.push(listed);
  return found;
}

const labels = (found: readonly ListedFile[]): string[] =>
  found.flatMap((listed) => (listed.kind === "file" ? [listed.file.label] : []));

const skips = (found: readonly ListedFile[]): string[] =>
  found.flatMap((listed) =>
    listed.kind === "skipped" ? [`${listed.skipped.label}: ${listed.skipped.reason}`] : [],
  );

function refOf(found: readonly ListedFile[], label: string): FileRef {
  for (const listed of found) if (listed.kind === "file" && listed.file.label === label) return listed.file;
  throw new Error(`${label} is not listed`);
}

async function read(name: string, content: Uint8Array | string, source = workspaceFiles()): Promise<unknown> {
  await put(name, content);
  const result = await source.read(refOf(await list(), name), never);
  return result.kind === "text" ? result.text : `${result.skipped.reason}: ${result.skipped.detail ?? ""}`;
}

describe("what the walk lists", () => {
  it("is stable, sorted within each folder, and names files relative to what was chosen", async () => {
    for (const name of ["b/z.ts", "b/a.ts", "a.txt", "Z.txt", "b.txt"]) await put(name);
    expect(labels(await list())).toEqual(["Z.txt", "a.txt", "b/a.ts", "b/z.ts", "b.txt"]);
    expect(await list()).toEqual(await list());
  });

  it("names files relative to their workspace folder, and by its name where there are several", async () => {
    await put("one/src/a.ts");
    await put("two/b.ts");
    const [one, two] = [path.join(root, "one"), path.join(root, "two")];
    expect(labels(await list({ workspaceFolders: [one] }, [path.join(one, "src")]))).toEqual(["src/a.ts"]);
    expect(labels(await list({ workspaceFolders: [one, two] }, [one, two]))).toEqual([
      "one/src/a.ts",
      "two/b.ts",
    ]);
  });

  it("reports an ignored folder once, with the rule, and does not enter it", async () => {
    await put(".gitignore", "deps/\n*.log\n");
    for (const name of ["deps/a/b.js", "deps/c.js", "x.log", "src/y.log", "src/kept.ts"]) await put(name);
    const found = await list();
    expect(skips(found)).toEqual(["deps: ignored", "src/y.log: ignored", "x.log: ignored"]);
    expect(labels(found)).toEqual([".gitignore", "src/kept.ts"]);
    expect(found.find((l) => l.kind === "skipped" && l.skipped.label === "deps")).toMatchObject({
      skipped: { folder: true, detail: ".gitignore:1: deps/" },
    });
    expect(labels(await list({ useIgnoreFiles: false }))).toContain("deps/a/b.js");
  });

  it("lets .llamagaugeignore overrule .gitignore in both directions", async () => {
    await put(".gitignore", "generated/\n");
    await put(".llamagaugeignore", "!generated/\nfixtures/\n");
    await put("generated/api.ts");
    await put("fixtures/big.ts");
    expect(labels(await list())).toEqual([".gitignore", ".llamagaugeignore", "generated/api.ts"]);
  });

  it("applies globs relative to the workspace folder, whatever part of it was chosen", async () => {
    for (const name of ["src/a.ts", "src/a.spec.ts", "src/gen/b.ts", "src/deep/gen/c.ts"]) await put(name);
    const options = { exclude: ["src/gen", "**/*.spec.ts"], workspaceFolders: [root] };
    const found = await list(options, [path.join(root, "src")]);
    expect(labels(found)).toEqual(["src/a.ts", "src/deep/gen/c.ts"]);
    expect(skips(found)).toEqual(["src/a.spec.ts: excluded", "src/gen: excluded"]);
  });

  it("takes what was chosen even if it is ignored, and counts overlapping choices once", async () => {
    await put(".gitignore", "dist/\n*.txt\n");
    await put("dist/out.js");
    await put("dist/notes.txt");
    await put("a.ts");
    expect(labels(await list({}, [path.join(root, "dist")]))).toEqual(["notes.txt", "out.js"]);
    const found = await list({}, [root, path.join(root, "dist"), path.join(root, "dist/out.js")]);
    expect(labels(found).filter((label) => label === "dist/out.js")).toHaveLength(1);
  });

  it("never enters .git, and gives a nested repository its own rules only", async () => {
    await put(".gitignore", "*.o\n");
    await put(".git/HEAD", "ref: refs/heads/main\n");
    await put(".git/config");
    await put("sub/.git", "gitdir: ../.git/modules/sub\n");
    await put("sub/x.o");
    await put("y.o");
    expect(labels(await list())).toEqual([".gitignore", "sub/x.o"]);
  });
});

describe("bad input of the walk", () => {
  it("says which chosen path does not exist", async () => {
    const missing = path.join(root, "missing");
    const error = await list({}, [missing]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({ reason: "notFound" });
    expect(String(error)).toContain(missing);
  });

  it("lists nothing in an empty folder", async () => {
    expect(await list()).toEqual([]);
  });

  it("handles names with line ends, emoji and right-to-left text", async () => {
    const names = ["a\nb.txt", "🦙.md", "שלום.txt", "\u202Egpj.exe", "tab\there"].sort();
    for (const name of names) await put(name, name);
    const found = await list();
    expect(labels(found)).toEqual(names);
    for (const name of names) {
      expect(await workspaceFiles().read(refOf(found, name), never)).toMatchObject({
        kind: "text",
        text: name,
      });
    }
  });

  it("reports a name that is not valid UTF-8 instead of losing it", async () => {
    await writeFile(Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([0xff])]), "x");
    await mkdir(Buffer.concat([Buffer.from(`${root}/dir`), Buffer.from([0xfe])]));
    await put("good\uFFFD.txt");
    const found = await list();
    expect(labels(found)).toEqual(["good\uFFFD.txt"]);
    expect(skips(found)).toEqual(["bad\uFFFD: unreadable", "dir\uFFFD: unreadable"]);
  });

  it("leaves FIFOs and sockets alone, listed or chosen", async () => {
    execFileSync("mkfifo", [path.join(root, "pipe")]);
    const server = net.createServer().listen(path.join(root, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    try {
      expect(skips(await list())).toEqual(["pipe: notAFile", "socket: notAFile"]);
      expect(skips(await list({}, [path.join(root, "pipe")]))).toEqual(["pipe: notAFile"]);
    } finally {
      server.close();
    }
  });

  it("does not enter linked folders, survives loops, and counts a linked file once", async () => {
    const outside = await realpath(await mkdtemp(path.join(os.tmpdir(), "gauge-outside-")));
    try {
      await writeFile(path.join(outside, "real.txt"), "outside");
      await put("folder/inside.txt");
      for (const [target, link] of [
        [root, "folder/up"],
        ["self", "self"],
        ["folder", "alias"],
        ["folder/inside.txt", "inside-link"],
        [path.join(outside, "real.txt"), "link1"],
        [path.join(outside, "real.txt"), "link2"],
        ["nowhere", "dangling"],
      ] as const) {
        await symlink(target, path.join(root, link));
      }
      expect(skips(await list()).filter((skip) => skip.startsWith("link"))).toEqual([
        "link1: linkedOutside",
        "link2: linkedOutside",
      ]);
      expect(labels(await list({ workspaceFolders: [outside] }))).toContain("link1");
      const found = await list({ followLinks: true });
      expect(labels(found).filter((label) => label.startsWith("link"))).toHaveLength(1);
      expect(labels(found)).toContain("folder/inside.txt");
      expect(skips(found).filter((skip) => !skip.startsWith("link"))).toEqual([
        "alias: linked",
        "dangling: unreadable",
        "folder/up: symlinkLoop",
        "inside-link: linked",
        "self: symlinkLoop",
      ]);
      expect(labels(await list({}, [path.join(root, "alias")]))).toEqual(["inside.txt"]);
    } finally {
      await rm(outside, { recursive: true });
    }
  });

  it("skips a 3 GB file without opening it", async () => {
    const big = await put("big.bin", "");
    truncateSync(big, 3_000_000_000);
    const found = await list();
    expect(found).toMatchObject([{ kind: "skipped", skipped: { reason: "tooLarge", detail: "3000000000" } }]);
  });

  it("stops at the most files it was told, and says so", async () => {
    for (let i = 0; i < 5; i++) await put(`f${i}`);
    const found = await list({ maxFiles: 3 });
    expect(labels(found)).toEqual(["f0", "f1", "f2"]);
    expect(skips(found)).toHaveLength(1);
    expect(found.at(-1)).toMatchObject({ skipped: { reason: "tooMany", detail: "3" } });
  });

  it.runIf(process.platform !== "win32")("reports folders and files it may not read", async () => {
    await put("closed/secret.txt");
    const file = await put("closed.txt");
    await put("open.txt");
    await chmod(path.join(root, "closed"), 0);
    await chmod(file, 0);
    await chmod(root, 0o755);
    await asOrdinaryUser(async () => {
      const found = await list();
      expect(labels(found)).toEqual(["closed.txt", "open.txt"]);
      expect(found).toContainEqual(
        expect.objectContaining({
          skipped: expect.objectContaining({
            label: "closed",
            reason: "unreadable",
            detail: "EACCES",
          }) as unknown,
        }),
      );
      expect(await workspaceFiles().read(refOf(found, "closed.txt"), never)).toMatchObject({
        skipped: { reason: "unreadable", detail: "EACCES" },
      });
    });
    await chmod(path.join(root, "closed"), 0o755);
  });

  it("stops at once when cancelled, also while the consumer is slow", async () => {
    for (let i = 0; i < 200; i++) await put(`d${i % 20}/f${i}`);
    const controller = new AbortController();
    let listed = 0;
    const walking = (async () => {
      for await (const _ of workspaceFiles().list([root], defaultWalkOptions, controller.signal)) {
        if (++listed === 15) controller.abort(new Error("cancelled"));
      }
    })();
    await expect(walking).rejects.toThrow("cancelled");
    expect(listed).toBeLessThan(30);
  });
});

/** Tests may run as root, whom no permission stops. */
async function asOrdinaryUser(work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0 || process.seteuid === undefined) {
    await work();
    return;
  }
  process.seteuid(65_534);
  try {
    await work();
  } finally {
    process.seteuid(0);
  }
}

describe("what a file's bytes become", () => {
  it("is UTF-8 without its byte order mark", async () => {
    expect(await read("bom.txt", "\uFEFFé🦙\r\n")).toBe("é🦙\r\n");
    expect(await read("empty.txt", "")).toBe("");
  });

  it("is UTF-16 by its mark, or where VS Code sees it without", async () => {
    const text = "naïve 日本 🦙\n";
    const little = Buffer.from(text, "utf16le");
    expect(await read("le.txt", Buffer.concat([Buffer.from([0xff, 0xfe]), little]))).toBe(text);
    expect(
      await read("be.txt", Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(little).swap16()])),
    ).toBe(text);
    expect(await read("plain-le.txt", Buffer.from("ascii", "utf16le"))).toBe("ascii");
    expect(await read("plain-be.txt", Buffer.from("ascii", "utf16le").swap16())).toBe("ascii");
  });

  it("is binary with a NUL in the first 8 KiB, and text with one only later", async () => {
    expect(await read("a.bin", Buffer.from("text\0text\n"))).toBe("binary: NUL");
    expect(await read("late.txt", `${"a".repeat(8192)}\0`)).toBe(`${"a".repeat(8192)}\0`);
    const noise = Buffer.from(Array.from({ length: 300 }, (_, at) => 1 + ((at * 89) % 255)));
    expect(await read("noise", noise)).toBe("binary: control characters");
  });

  it("goes through the editor's decoder where it is neither, else shows U+FFFD", async () => {
    const shiftJis = Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x0a]);
    expect(await read("sjis.txt", shiftJis)).toBe("\uFFFD\uFFFD\uFFFD{\n");
    const decodeForeign = (bytes: Uint8Array): Promise<string> =>
      Promise.resolve(new TextDecoder("shift_jis").decode(bytes));
    expect(await read("sjis.txt", shiftJis, workspaceFiles({ decodeForeign }))).toBe("日本\n");
  });

  it("is read whole where it is longer than one chunk", async () => {
    const text = "0123456789é".repeat(300_000);
    expect(await read("long.txt", text)).toBe(text);
  });

  it("is what is there when the file changed after it was listed", async () => {
    const file = await put("log.txt", "a".repeat(9000));
    const ref = refOf(await list(), "log.txt");
    await appendFile(file, "b".repeat(9000));
    expect(await workspaceFiles().read(ref, never)).toMatchObject({
      text: "a".repeat(9000) + "b".repeat(9000),
    });
    await writeFile(file, "short");
    expect(await workspaceFiles().read(ref, never)).toMatchObject({ text: "short" });
    expect(await workspaceFiles({ maxReadBytes: 3 }).read(ref, never)).toMatchObject({
      skipped: { reason: "tooLarge" },
    });
    await unlink(file);
    expect(await workspaceFiles().read(ref, never)).toMatchObject({ skipped: { reason: "vanished" } });
    execFileSync("mkfifo", [file]);
    expect(await workspaceFiles().read(ref, never)).toMatchObject({ skipped: { reason: "notAFile" } });
  });

  it("carries size and time for the cache", async () => {
    const file = await put("a.txt", "12345");
    await utimes(file, 1_700_000_000, 1_700_000_000);
    expect(refOf(await list(), "a.txt")).toMatchObject({ bytes: 5, mtimeMs: 1_700_000_000_000, path: file });
  });
});
