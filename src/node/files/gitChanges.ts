import { stat } from "node:fs/promises";
import path from "node:path";
import { execa, ExecaError } from "execa";
import { count, say } from "../../core/text";
import type { GitChanges, GitScope } from "../../core/tokens/gitScope";
import { UserError } from "../../core/userError";

const timeLimitMs = 20_000;
const maxOutputBytes = 256 * 1024 * 1024;

/** Each takes a git of its own. */
const maxUntracked = 1000;

/**
 * Files that changed, in the repository `folder` lies in, limited to that folder. Not for untrusted workspaces: git runs
 * the filters a repository sets up. @throws UserError where there is no git, no repository, or nothing to compare with.
 */
export async function changedFiles(
  folder: string,
  scope: GitScope,
  signal: AbortSignal,
): Promise<GitChanges> {
  const repository = await repositoryOf(folder, signal);
  const { revision, against } = await comparedWith(folder, scope, signal);
  const names = await git(
    folder,
    [...diffCommand(scope, revision), "--name-only", "-z", "--diff-filter=d", "--", "."],
    signal,
  );
  const untracked = scope.kind === "workingTree" ? await untrackedFiles(folder, signal) : [];
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
  const repository = await repositoryOf(folder, signal);
  const { revision } = await comparedWith(folder, scope, signal);
  const tracked = await git(folder, [...diffCommand(scope, revision), "--", "."], signal);
  if (scope.kind !== "workingTree") return tracked;
  const names = await untrackedFiles(folder, signal);
  if (names.length > maxUntracked) {
    throw new UserError(
      "tooLarge",
      say`${count(names.length)} file[s] [is|are] not under version control.`,
      say`Add them to .gitignore or to the index.`,
    );
  }
  const parts = [tracked];
  for (const name of names) {
    // Compared with nothing, git ends with 1 where there is something.
    const against = ["diff", ...plainDiff, "--no-index", "--", "/dev/null", name];
    parts.push(await git(repository, against, signal, [0, 1]));
  }
  return parts.join("");
}

async function untrackedFiles(folder: string, signal: AbortSignal): Promise<string[]> {
  return split(
    await git(folder, ["ls-files", "--others", "--exclude-standard", "--full-name", "-z"], signal),
  );
}

/** git's core.excludesFile, or its default place where that exists. */
export async function globalExcludesFile(folder: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const configured = await git(
      folder,
      ["config", "--type=path", "--get", "core.excludesFile"],
      signal,
      [0, 1],
    );
    if (configured.trim() !== "") return configured.trimEnd();
  } catch {
    signal.throwIfAborted();
  }
  const home = process.env["XDG_CONFIG_HOME"] ?? path.join(process.env["HOME"] ?? "", ".config");
  const file = path.join(home, "git", "ignore");
  return (await stat(file).catch(() => undefined))?.isFile() === true ? file : undefined;
}

/** No programs from the repository's settings or attributes, no colours, the same output whatever the user set up. */
const plainDiff = ["--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"];

/** Paths in the output are relative to the repository's top; only those in the current folder are there. */
function diffCommand(scope: GitScope, revision: string): string[] {
  const staged = scope.kind === "staged" ? ["--cached"] : [];
  return ["diff", ...plainDiff, "--find-renames", ...staged, revision];
}

async function repositoryOf(folder: string, signal: AbortSignal): Promise<string> {
  return (await git(folder, ["rev-parse", "--show-toplevel"], signal)).replace(/\n$/, "");
}

async function comparedWith(
  folder: string,
  scope: GitScope,
  signal: AbortSignal,
): Promise<{ readonly revision: string; readonly against: string }> {
  if (scope.kind !== "branch") {
    const head = await commitOf(folder, "HEAD", signal);
    if (head !== undefined) return { revision: head, against: "HEAD" };
    // Before the first commit everything is new: compared with the tree of no files.
    const emptyTree = await git(folder, ["hash-object", "-t", "tree", "--stdin"], signal);
    return { revision: emptyTree.trim(), against: "" };
  }
  for (const base of scope.base === undefined
    ? ["origin/HEAD", "origin/main", "origin/master", "main", "master"]
    : [scope.base]) {
    const commit = await commitOf(folder, base, signal);
    if (commit === undefined) continue;
    const mergeBase = (await git(folder, ["merge-base", commit, "HEAD"], signal, [0, 1])).trim();
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
async function commitOf(folder: string, name: string, signal: AbortSignal): Promise<string | undefined> {
  const answer = await git(
    folder,
    ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`],
    signal,
    [0, 1, 128],
  );
  const commit = answer.trim();
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined;
}

async function git(
  folder: string,
  args: readonly string[],
  signal: AbortSignal,
  fine: readonly number[] = [0],
): Promise<string> {
  signal.throwIfAborted();
  try {
    const { stdout } = await execa(
      "git",
      ["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", ...args],
      {
        cwd: folder,
        // Reading must not take the index lock from the user's own git, nor ask for anything.
        env: { GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" },
        stdin: "ignore",
        stripFinalNewline: false,
        timeout: timeLimitMs,
        maxBuffer: maxOutputBytes,
        cancelSignal: signal,
        encoding: "utf8",
      },
    );
    return stdout;
  } catch (error) {
    signal.throwIfAborted();
    if (!isExecaError(error)) throw error;
    if (error.exitCode !== undefined && fine.includes(error.exitCode)) return String(error.stdout);
    throw gitError(folder, error);
  }
}

function gitError(
  folder: string,
  error: Pick<ExecaError, "code" | "timedOut" | "isMaxBuffer" | "stderr">,
): UserError {
  const options = { cause: error };
  if (error.code === "ENOENT") {
    return new UserError(
      "notFound",
      say`git was not found.`,
      say`Install git or put it on the PATH.`,
      options,
    );
  }
  if (error.timedOut) {
    const remedy = say`Choose a smaller folder, or count its files instead.`;
    return new UserError("timeout", say`git did not respond within ${folder}.`, remedy, options);
  }
  if (error.isMaxBuffer) {
    return new UserError("tooLarge", say`The changes are too large.`, say`Choose a smaller folder.`, options);
  }
  const message = String(error.stderr).trim().split("\n", 1)[0] ?? "";
  if (/not a git repository/.test(message)) {
    return new UserError(
      "invalidInput",
      say`${folder} is not in a git repository.`,
      say`Choose a folder.`,
      options,
    );
  }
  return new UserError(
    "outsideFailed",
    say`git failed: ${message}`,
    say`Check the repository with git status.`,
    options,
  );
}

const isExecaError = (error: unknown): error is ExecaError => error instanceof ExecaError;

const split = (listed: string): string[] => listed.split("\0").filter((name) => name !== "");
