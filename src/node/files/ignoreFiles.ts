import { lstat, stat } from "node:fs/promises";
import path from "node:path";
import {
  matchIgnoreFile,
  parseIgnoreFile,
  type IgnoreFile,
  type IgnoreMatch,
} from "../../core/files/ignoreRules";
import { textOfRegular } from "../reading/regularFile";

/** Names one path. */
const linkText = { most: 64 * 1024 } as const;

const ownIgnoreFile = ".llamagaugeignore";

const maxIgnoreFileBytes = 1024 * 1024;

/** File systems of macOS and Windows do not tell `A` from `a`; git then matches so as well (core.ignoreCase). */
export const ignoreCase = process.platform === "darwin" || process.platform === "win32";

/** An ignore file and the folder its rules speak of; `next` is asked where this one says nothing. */
interface Link {
  readonly prefix: number;
  readonly file: IgnoreFile;
  readonly next: Link | undefined;
}

/**
 * The ignore files that hold in a folder. `.llamagaugeignore` comes before git's; within each, the deeper folder comes
 * first, and for git .git/info/exclude and the user's global file come last.
 */
export class IgnoreScope {
  private constructor(
    private readonly own: Link | undefined,
    private readonly git: Link | undefined,
  ) {}

  static readonly empty = new IgnoreScope(undefined, undefined);

  /** @param file absolute, `/`-separated */
  match(file: string, folder: boolean): IgnoreMatch | undefined {
    return matchChain(this.own, file, folder) ?? matchChain(this.git, file, folder);
  }

  /**
   * The scope inside a folder, given the names in it that are ordinary files.
   * @param holdsGit the folder is a repository of its own: the rules of the one around it end here.
   */
  async enter(
    folder: string,
    names: ReadonlySet<string>,
    holdsGit: boolean,
    setup: IgnoreSetup,
  ): Promise<IgnoreScope> {
    let { own, git } = this;
    if (holdsGit) git = await repositoryLinks(folder, setup);
    if (names.has(".gitignore")) git = link(await load(folder, ".gitignore", setup), folder, git);
    if (names.has(ownIgnoreFile)) own = link(await load(folder, ownIgnoreFile, setup), folder, own);
    return own === this.own && git === this.git ? this : new IgnoreScope(own, git);
  }
}

export interface IgnoreSetup {
  /** git's core.excludesFile, for users who keep one. */
  readonly globalExcludesFile?: string;
  /** How an ignore file is named in the reason of a skip. */
  readonly nameOf: (file: string) => string;
}

/** The scope just outside `folder`, made of the files in the folders from `top` down to the one around it. */
export async function scopeAround(folder: string, top: string, setup: IgnoreSetup): Promise<IgnoreScope> {
  const above: string[] = [];
  for (let at = path.dirname(folder); isWithin(at, top); at = path.dirname(at)) {
    above.unshift(at);
    if (at === path.dirname(at)) break;
  }
  let scope = IgnoreScope.empty;
  for (const at of above) {
    const names = await ordinaryFiles(at, [".gitignore", ownIgnoreFile]);
    // What was chosen inside an ignored folder is wanted all the same: the rules that ignore it end there.
    const outer = scope.match(posix(at), true)?.ignored === true ? IgnoreScope.empty : scope;
    scope = await outer.enter(at, names, await exists(path.join(at, ".git")), setup);
  }
  return scope.match(posix(folder), true)?.ignored === true ? IgnoreScope.empty : scope;
}

/** The folder of the innermost repository around `folder` (itself included). */
export async function repositoryAround(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = path.dirname(at)) {
    if (await exists(path.join(at, ".git"))) return at;
    if (at === path.dirname(at)) return undefined;
  }
}

export function isWithin(inner: string, outer: string): boolean {
  if (inner === outer) return true;
  return inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

export const posix = (file: string): string => (path.sep === "/" ? file : file.split(path.sep).join("/"));

function matchChain(chain: Link | undefined, file: string, folder: boolean): IgnoreMatch | undefined {
  for (let at = chain; at !== undefined; at = at.next) {
    const match = matchIgnoreFile(at.file, file.slice(at.prefix), folder);
    if (match !== undefined) return match;
  }
  return undefined;
}

function link(file: IgnoreFile | undefined, folder: string, next: Link | undefined): Link | undefined {
  if (file === undefined || file.rules.length === 0) return next;
  const prefix = folder.endsWith(path.sep) ? folder.length : folder.length + 1;
  return { prefix, file, next };
}

async function repositoryLinks(folder: string, setup: IgnoreSetup): Promise<Link | undefined> {
  let links: Link | undefined;
  if (setup.globalExcludesFile !== undefined) {
    links = link(await loadFile(setup.globalExcludesFile, setup.globalExcludesFile), folder, links);
  }
  const gitFolder = await commonGitFolder(path.join(folder, ".git"));
  if (gitFolder === undefined) return links;
  const exclude = path.join(gitFolder, "info", "exclude");
  return link(await loadFile(exclude, setup.nameOf(exclude)), folder, links);
}

/** `.git` is a file in worktrees and submodules: "gitdir: …", and there "commondir" names the shared folder. */
async function commonGitFolder(dotGit: string): Promise<string | undefined> {
  try {
    if ((await stat(dotGit)).isDirectory()) return dotGit;
    const target = /^gitdir: (.*)/.exec(await textOfRegular(dotGit, linkText))?.[1]?.trimEnd();
    if (target === undefined) return undefined;
    const own = path.resolve(path.dirname(dotGit), target);
    const common = await textOfRegular(path.join(own, "commondir"), linkText).catch(() => ".");
    return path.resolve(own, common.trimEnd());
  } catch {
    return undefined;
  }
}

function load(folder: string, name: string, setup: IgnoreSetup): Promise<IgnoreFile | undefined> {
  const file = path.join(folder, name);
  return loadFile(file, setup.nameOf(file));
}

/** An ignore file that cannot be read has no rules, as with git. */
async function loadFile(file: string, origin: string): Promise<IgnoreFile | undefined> {
  try {
    const text = await textOfRegular(file, { most: maxIgnoreFileBytes, part: "start" });
    return parseIgnoreFile(text, origin, ignoreCase);
  } catch {
    return undefined;
  }
}

async function ordinaryFiles(folder: string, names: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const name of names) {
    const stats = await lstat(path.join(folder, name)).catch(() => undefined);
    if (stats?.isFile() === true) found.add(name);
  }
  return found;
}

async function exists(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => undefined)) !== undefined;
}
