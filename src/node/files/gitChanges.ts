import { stat } from "node:fs/promises";
import path from "node:path";
import { count, say } from "../../core/text";
import type { GitChanges, GitScope } from "../../core/tokens/gitScope";
import { UserError } from "../../core/userError";
import { gitIn, type Git } from "./gitCommand";

/** Each takes a git of its own. */
const maxUntracked = 1000;

/**
 * Files that changed, in the repository `folder` lies in, limited to that folder. Not for untrusted workspaces: git
 * reads the repository's settings. @throws UserError where there is no git, no repository, or nothing to compare with.
 */
export async function changedFiles(
  folder: string,
  scope: GitScope,
  signal: AbortSignal,
): Promise<GitChanges> {
  const git = await gitIn(folder, signal);
  const repository = await repositoryOf(git);
  const { revision, against } = await comparedWith(git, scope);
  // a renamed file is under its new name either way, and without the search nothing is read of a partial clone
  const names = await git([
    ...diffCommand(scope, revision),
    ...["--no-renames", "--name-only", "-z", "--diff-filter=d", "--", "."],
  ]);
  const untracked = scope.kind === "workingTree" ? await untrackedFiles(git) : [];
  const relative = new Set([...split(names), ...untracked]);
  const files = Array.from(relative, (name) => path.join(repository, name)).sort();
  const there = await Promise.all(
    files.map(async (file) => (await stat(file).catch(() => undefined))?.isFile()),
  );
  return { repository, against, files: files.filter((_, at) => there[at] === true) };
}

/**
 * The same changes as a unified diff, as `git diff` prints it. Untracked files are in it as new ones, so that it says the same
 * as `changedFiles`.
 */
export async function changesAsDiff(folder: string, scope: GitScope, signal: AbortSignal): Promise<string> {
  const git = await gitIn(folder, signal);
  const repository = await repositoryOf(git);
  const { revision } = await comparedWith(git, scope);
  const tracked = await git([...diffCommand(scope, revision), "--find-renames", "--", "."]);
  if (scope.kind !== "workingTree") return tracked;
  const names = await untrackedFiles(git);
  if (names.length > maxUntracked) {
    throw new UserError(
      "tooLarge",
      say`${count(names.length)} file[s] [is|are] not under version control.`,
      say`Add them to .gitignore or to the index.`,
    );
  }
  const parts = [tracked];
  const atTop = await gitIn(repository, signal);
  for (const name of names) {
    // Compared with nothing, git ends with 1 where there is something.
    const against = ["diff", ...plainDiff, "--no-index", "--", "/dev/null", name];
    parts.push(await atTop(against, [0, 1]));
  }
  return parts.join("");
}

async function untrackedFiles(git: Git): Promise<string[]> {
  return split(await git(["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]));
}

/** git's core.excludesFile, or its default place where that exists. */
export async function globalExcludesFile(folder: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const git = await gitIn(folder, signal);
    const configured = await git(["config", "--type=path", "--get", "core.excludesFile"], [0, 1]);
    if (configured.trim() !== "") return configured.trimEnd();
  } catch {
    signal.throwIfAborted();
  }
  const { HOME = "", XDG_CONFIG_HOME = "" } = process.env;
  const config = XDG_CONFIG_HOME === "" ? path.join(HOME, ".config") : XDG_CONFIG_HOME;
  if (!path.isAbsolute(config)) return undefined;
  const file = path.join(config, "git", "ignore");
  return (await stat(file).catch(() => undefined))?.isFile() === true ? file : undefined;
}

/** No programs from the repository's settings or attributes, no colours, the same output whatever the user set up. */
const plainDiff = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--ignore-submodules=dirty",
  "--src-prefix=a/",
  "--dst-prefix=b/",
];

/** Paths in the output are relative to the repository's top; only those in the current folder are there. */
function diffCommand(scope: GitScope, revision: string): string[] {
  const staged = scope.kind === "staged" ? ["--cached"] : [];
  return ["diff", ...plainDiff, ...staged, revision];
}

async function repositoryOf(git: Git): Promise<string> {
  return (await git(["rev-parse", "--show-toplevel"])).replace(/\n$/, "");
}

async function comparedWith(
  git: Git,
  scope: GitScope,
): Promise<{ readonly revision: string; readonly against: string }> {
  if (scope.kind !== "branch") {
    const head = await commitOf(git, "HEAD");
    if (head !== undefined) return { revision: head, against: "HEAD" };
    // Before the first commit everything is new: compared with the tree of no files.
    const emptyTree = await git(["hash-object", "-t", "tree", "--stdin"]);
    return { revision: emptyTree.trim(), against: "" };
  }
  for (const base of scope.base === undefined
    ? ["origin/HEAD", "origin/main", "origin/master", "main", "master"]
    : [scope.base]) {
    const commit = await commitOf(git, base);
    if (commit === undefined) continue;
    const mergeBase = (await git(["merge-base", commit, "HEAD"], [0, 1])).trim();
    if (mergeBase === "") continue;
    return { revision: mergeBase, against: `${base} (${mergeBase.slice(0, 7)})` };
  }
  throw new UserError(
    "notFound",
    scope.base === undefined
      ? say`No branch to compare with was found.`
      : say`${scope.base} is not a commit that this branch shares history with.`,
    say`Specify the branch to compare with.`,
  );
}

/** A name is resolved first, so that one beginning with a dash never becomes an option. */
async function commitOf(git: Git, name: string): Promise<string | undefined> {
  const answer = await git(
    ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`],
    [0, 1, 128],
  );
  const commit = answer.trim();
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined;
}

const split = (listed: string): string[] => listed.split("\0").filter((name) => name !== "");
