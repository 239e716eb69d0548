import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { runTool, type ToolRun } from "../process/runTool";

const milliseconds = 20_000;
const maxBytes = 256 * 2 ** 20;

/** Runs git in a folder; what it writes. `fine` are the exit codes that are no failure. */
export type Git = (args: readonly string[], fine?: readonly number[]) => Promise<string>;

/** No program that a repository names, no lock that the user's own git may want. */
const harmless = [
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "core.hooksPath=/dev/null"],
  ...["-c", "core.quotePath=false"],
];
const environment = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  // a partial clone fetches what it lacks when it is read: the first from git 2.44 on, the second (no protocol) before
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "",
  LC_ALL: "C",
};

/** git for one folder. The filters that the repository itself sets up do not run; the user's own, such as git-lfs's, do. */
export async function gitIn(folder: string, signal: AbortSignal): Promise<Git> {
  const plain: Git = (args, fine = [0]) => git(folder, [...harmless, ...args], fine, signal);
  const without = await withoutFilters(plain);
  return (args, fine = [0]) => git(folder, [...harmless, ...without, ...args], fine, signal);
}

/** An unknown option or scope is an older git (before 2.26): then all filters are left out. */
async function withoutFilters(plain: Git): Promise<readonly string[]> {
  const wanted = ["--name-only", "-z", "--get-regexp", "^filter\\..*\\."];
  const scoped = await plain(["config", "--show-scope", ...wanted], [0, 1, 129]);
  const parts = scoped.split("\0");
  const own = parts.flatMap((name, at) =>
    at % 2 === 1 && ["local", "worktree"].includes(parts[at - 1] ?? "") ? [name] : [],
  );
  const keys = scoped === "" ? (await plain(["config", ...wanted], [0, 1])).split("\0") : own;
  const drivers = new Set(keys.flatMap((key) => /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1] ?? []));
  return [...drivers].flatMap((driver) => {
    if (driver.includes("=")) throw strangeFilter(driver);
    return ["clean=", "smudge=", "process=", "required=false"].flatMap((setting) => [
      "-c",
      `filter.${driver}.${setting}`,
    ]);
  });
}

async function git(
  folder: string,
  args: readonly string[],
  fine: readonly number[],
  signal: AbortSignal,
): Promise<string> {
  const limits = {
    milliseconds,
    maxBytes,
    folder,
    verbatim: true as const,
    environment: { ...process.env, ...environment },
  };
  const run = await runTool("git", args, limits, signal);
  if (run.exitCode !== undefined && fine.includes(run.exitCode) && !run.tooMuch) return run.stdout;
  throw gitError(folder, run);
}

function gitError(folder: string, { code, timedOut, tooMuch, stderr }: ToolRun): UserError {
  if (code === "ENOENT") {
    return new UserError("notFound", say`git was not found.`, say`Install git or put it on the PATH.`);
  }
  if (timedOut) {
    const remedy = say`Choose a smaller folder, or count its files instead.`;
    return new UserError("timeout", say`git took too long in ${folder}.`, remedy);
  }
  if (tooMuch) {
    return new UserError("tooLarge", say`The changes are too large.`, say`Choose a smaller folder.`);
  }
  const message = stderr.trim().split("\n", 1)[0] ?? "";
  if (/not a git repository/.test(message)) {
    return new UserError("invalidInput", say`${folder} is not in a git repository.`, say`Choose a folder.`);
  }
  if (/promisor|lazy fetch|transport '.*' not allowed/.test(stderr)) {
    return new UserError(
      "unsupported",
      say`This partial clone lacks a file that the comparison needs, and Llama Gauge fetches nothing.`,
      say`Fetch it by running git diff yourself, then try again.`,
    );
  }
  return new UserError(
    "outsideFailed",
    say`git failed: ${message}`,
    say`Check the repository with git status.`,
  );
}

function strangeFilter(driver: string): UserError {
  return new UserError(
    "unsupported",
    say`The repository sets up a filter with a strange name: ${driver}.`,
    say`Remove it from .git/config.`,
  );
}
