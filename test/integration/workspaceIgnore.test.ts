import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultWalkOptions } from "../../src/core/files/files";
import { workspaceFiles } from "../../src/node/files/workspaceFiles";
import { SeededRandom } from "../support/seededRandom";

/** Walks generated trees with nasty ignore files and compares with what git itself lists. */

const names = [
  "a",
  "b",
  "ab",
  "abc",
  "c.log",
  "é",
  "日本",
  "a b",
  "b ",
  "[a",
  "{a,b}",
  "-",
  "+",
  "#",
  "!a",
  "a.b",
  ".a",
];
const pieces = [
  ...["a", "b", "ab", "c", "*", "?", "**", "/", "/", "**/", "/**", "*.log", "[ab]", "[!a]", "[a-c]", "[^b]"],
  ...[
    "[[:alpha:]]",
    "[[:nope:]]",
    "[]a]",
    "[\\]]",
    "[a",
    "]",
    "\\*",
    "\\",
    "\\ ",
    " ",
    "\t",
    "é",
    "日",
    "!",
    "#",
  ],
  ...["A", ".", "-", "{a,b}", "+", "(", "^", "$", "*a", "a**", "\r"],
];

function pattern(random: SeededRandom): string {
  let text = random.below(4) === 0 ? "!" : "";
  if (random.below(5) === 0) text += "/";
  for (let left = 1 + random.below(4); left > 0; left--) text += random.pick(pieces);
  return random.below(5) === 0 ? `${text}/` : text;
}

function ignoreFile(random: SeededRandom): string {
  const lines = Array.from({ length: 1 + random.below(4) }, () => pattern(random));
  if (random.below(6) === 0) lines.push("# a comment", "", "   ");
  const end = random.pick(["\n", "\r\n"]);
  return (random.below(8) === 0 ? "\uFEFF" : "") + lines.join(end) + random.pick(["", end]);
}

async function grow(folder: string, depth: number, random: SeededRandom): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (random.below(3) === 0) await writeFile(path.join(folder, ".gitignore"), ignoreFile(random));
  const taken = new Set<string>();
  for (let left = 2 + random.below(5); left > 0; left--) {
    const name = random.pick(names);
    if (taken.has(name)) continue;
    taken.add(name);
    const child = path.join(folder, name);
    if (depth > 0 && random.below(2) === 0) await grow(child, depth - 1, random);
    else await writeFile(child, "text\n");
  }
}

let work: string;

beforeAll(async () => {
  work = await realpath(await mkdtemp(path.join(os.tmpdir(), "gauge-ignore-")));
});

afterAll(async () => {
  await rm(work, { recursive: true, force: true });
});

async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execa("git", args, {
    cwd: folder,
    env: { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: path.join(work, "no-config") },
    stripFinalNewline: false,
  });
  return stdout;
}

async function gitLists(folder: string): Promise<string[]> {
  const listed = await git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard");
  return Array.from(new Set(listed.split("\0").filter((name) => name !== ""))).sort();
}

async function weList(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const listed of workspaceFiles().list(
    [folder],
    defaultWalkOptions,
    AbortSignal.timeout(60_000),
  )) {
    if (listed.kind === "file") found.push(path.relative(folder, listed.file.path).split(path.sep).join("/"));
  }
  return found.sort();
}

describe("the walk lists what git lists", () => {
  it("over 40 generated repositories, from the top and from sub-folders", async () => {
    const random = new SeededRandom(20_260_801);
    let files = 0;
    let folders = 0;
    for (let round = 0; round < 40; round++) {
      const repository = path.join(work, `r${round}`);
      await git(work, "init", "--quiet", repository);
      await grow(repository, 3, random);
      if (round % 3 === 0) await writeFile(path.join(repository, ".git/info/exclude"), ignoreFile(random));
      if (round % 4 === 0) await git(repository, "add", ".");
      const expected = await gitLists(repository);
      expect(await weList(repository), `repository ${round}`).toEqual(expected);
      files += expected.length;
      for (const folder of new Set(expected.map((file) => path.dirname(file)))) {
        if (folder === ".") continue;
        const below = expected
          .filter((file) => file.startsWith(`${folder}/`))
          .map((file) => file.slice(folder.length + 1));
        expect(await weList(path.join(repository, folder)), `${round}: ${folder}`).toEqual(below);
        folders++;
      }
      await rm(repository, { recursive: true });
    }
    expect(files).toBeGreaterThan(400);
    expect(folders).toBeGreaterThan(100);
  }, 240_000);

  it("in a worktree, whose .git is a file and whose excludes lie in the main repository", async () => {
    const main = path.join(work, "main");
    await git(work, "init", "--quiet", main);
    await writeFile(path.join(main, "kept.txt"), "kept\n");
    await git(main, "add", ".");
    await git(
      main,
      "-c",
      "user.name=t",
      "-c",
      "user.email=t@example.com",
      "commit",
      "--quiet",
      "-m",
      "first",
    );
    await writeFile(path.join(main, ".git/info/exclude"), "*.tmp\n");
    const tree = path.join(work, "tree");
    await git(main, "worktree", "add", "--quiet", tree);
    await writeFile(path.join(tree, "left.tmp"), "left out\n");
    await writeFile(path.join(tree, "new.txt"), "new\n");
    expect(await gitLists(tree)).toEqual(["kept.txt", "new.txt"]);
    expect(await weList(tree)).toEqual(["kept.txt", "new.txt"]);
  });

  it("does not follow an ignore file that is a link, as git does not", async () => {
    const repository = path.join(work, "linked-ignore");
    await git(work, "init", "--quiet", repository);
    await writeFile(path.join(work, "rules"), "*.txt\n");
    await symlink(path.join(work, "rules"), path.join(repository, ".gitignore"));
    await writeFile(path.join(repository, "a.txt"), "text\n");
    expect(await gitLists(repository)).toContain("a.txt");
    expect(await weList(repository)).toContain("a.txt");
  });
});
