import { lstatSync, readdirSync, type Dirent, type Stats } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import type { ListedFile, SkipReason, WalkOptions } from "../../core/files/files";
import { say } from "../../core/text";
import { excludeGlobs } from "../../core/files/excludeGlobs";
import { UserError } from "../../core/userError";
import {
  ignoreCase,
  IgnoreScope,
  isWithin,
  posix,
  repositoryAround,
  scopeAround,
  type IgnoreSetup,
} from "./ignoreFiles";
import { unreadableBecause } from "../reading/readDirectly";
import { errorCode, within } from "../waiting/within";
import type { Pace } from "./pace";

export interface WalkSetup {
  readonly globalExcludesFile?: string;
  readonly timeLimitMs: number;
  readonly pace: Pace;
}

/** Entries whose size is asked for at a time. */
const statBatch = 64;
/** A folder of this size has a few thousand entries at most; Windows does not say. */
const smallFolderBytes = 64 * 1024;
const folderSizesTell = process.platform !== "win32";

/** Depth first; within a folder by name (code units), so that two walks of the same tree are equal. */
export async function* walk(
  roots: readonly string[],
  options: WalkOptions,
  setup: WalkSetup,
  signal: AbortSignal,
): AsyncGenerator<ListedFile> {
  const chosen = await chosenRoots(roots, signal);
  const shared: Shared = {
    options,
    setup,
    signal,
    explicit: new Set(chosen.map((root) => root.path)),
    realRoots: chosen.map((root) => root.real),
    realFolders: await realPaths(options.workspaceFolders ?? []),
    linkTargets: new Set(),
    excludes: excludeGlobs(options.exclude, ignoreCase),
  };
  const common = commonFolder(chosen);
  let files = 0;
  for (const root of chosen) {
    const base = baseOf(root, common, options);
    for await (const listed of new RootWalk(root, base, shared).list()) {
      if (listed.kind === "file" && ++files > options.maxFiles) {
        const detail = String(options.maxFiles);
        yield {
          kind: "skipped",
          skipped: { path: root.path, label: base.label(root.path), reason: "tooMany", folder: true, detail },
        };
        return;
      }
      yield listed;
    }
  }
}

interface Root {
  readonly path: string;
  readonly real: string;
  readonly stats: Stats;
}

interface Shared {
  readonly options: WalkOptions;
  readonly setup: WalkSetup;
  readonly signal: AbortSignal;
  readonly explicit: ReadonlySet<string>;
  readonly realRoots: readonly string[];
  readonly realFolders: readonly string[];
  readonly linkTargets: Set<string>;
  readonly excludes: (path: string) => string | undefined;
}

async function chosenRoots(roots: readonly string[], signal: AbortSignal): Promise<Root[]> {
  const chosen = new Map<string, Root>();
  for (const given of roots) {
    signal.throwIfAborted();
    const root = path.resolve(given);
    try {
      chosen.set(root, { path: root, real: await realpath(root), stats: await stat(root) });
    } catch (error) {
      const code = errorCode(error);
      if (code === undefined) throw error;
      if (code === "ENOENT" || code === "ENOTDIR") {
        throw new UserError(
          "notFound",
          say`${root} does not exist.`,
          say`Choose an existing file or folder.`,
          {
            cause: error,
          },
        );
      }
      throw new UserError("refused", say`${root} cannot be read (${code}).`, say`Check its permissions.`, {
        cause: error,
      });
    }
  }
  return Array.from(chosen.values());
}

async function realPaths(folders: readonly string[]): Promise<readonly string[]> {
  return Promise.all(folders.map((folder) => realpath(folder).catch(() => path.resolve(folder))));
}

/** What labels and globs are relative to. */
interface Base {
  readonly folder: string;
  label(file: string): string;
}

function baseOf(root: Root, common: string, options: WalkOptions): Base {
  const folders = options.workspaceFolders?.map((folder) => path.resolve(folder)) ?? [];
  const holding = folders
    .filter((folder) => isWithin(root.path, folder))
    .sort((a, b) => b.length - a.length)[0];
  if (holding !== undefined) {
    const prefix = folders.length > 1 ? `${path.basename(holding)}/` : "";
    return { folder: holding, label: (file) => prefix + relative(holding, file) };
  }
  return {
    folder: root.stats.isDirectory() ? root.path : path.dirname(root.path),
    label: (file) => relative(common, file),
  };
}

/** The innermost folder that holds all roots. */
function commonFolder(roots: readonly Root[]): string {
  const folders = roots.map((root) => (root.stats.isDirectory() ? root.path : path.dirname(root.path)));
  let common = folders[0] ?? "";
  for (const folder of folders) while (!isWithin(folder, common)) common = path.dirname(common);
  return common;
}

function relative(from: string, to: string): string {
  const result = posix(path.relative(from, to));
  return result === "" ? path.basename(to) : result;
}

interface Frame {
  readonly folder: string;
  readonly scope: IgnoreScope;
  readonly entries: readonly Dirent[];
  next: number;
  /** What came of the last batch, the next step at the end. */
  looked: Step[];
}

type Step = ListedFile | { readonly kind: "folder"; readonly path: string } | undefined;

class RootWalk {
  private readonly ignoreSetup: IgnoreSetup;

  constructor(
    private readonly root: Root,
    private readonly base: Base,
    private readonly shared: Shared,
  ) {
    const { globalExcludesFile } = shared.setup;
    this.ignoreSetup = {
      nameOf: (file) => base.label(file),
      ...(globalExcludesFile === undefined ? {} : { globalExcludesFile }),
    };
  }

  async *list(): AsyncGenerator<ListedFile> {
    const { stats, path: root } = this.root;
    if (!stats.isDirectory()) {
      yield stats.isFile() ? this.file(root, stats) : this.skip(root, "notAFile", false);
      return;
    }
    const first = await this.open(root, await this.outerScope());
    if (!("entries" in first)) {
      yield first;
      return;
    }
    const stack: Frame[] = [first];
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      this.shared.signal.throwIfAborted();
      const step = await this.nextStep(frame);
      if (step === "done") {
        stack.pop();
      } else if (step?.kind === "folder") {
        const inner = await this.open(step.path, frame.scope);
        if ("entries" in inner) stack.push(inner);
        else yield inner;
      } else if (step !== undefined) {
        yield step;
      }
    }
  }

  /** Entries are looked at a batch ahead, each once. */
  private async nextStep(frame: Frame): Promise<Step | "done"> {
    if (frame.looked.length === 0) {
      const batch = frame.entries.slice(frame.next, frame.next + statBatch);
      if (batch.length === 0) return "done";
      frame.next += batch.length;
      frame.looked = await Promise.all(batch.map((entry) => this.look(frame.folder, entry, frame.scope)));
      frame.looked.reverse();
    }
    return frame.looked.pop();
  }

  private async outerScope(): Promise<IgnoreScope> {
    if (!this.shared.options.useIgnoreFiles) return IgnoreScope.empty;
    const { path: root } = this.root;
    const workspace = isWithin(root, this.base.folder) ? this.base.folder : root;
    const top = (await repositoryAround(root)) ?? workspace;
    return await scopeAround(root, top, this.ignoreSetup);
  }

  private async open(folder: string, outer: IgnoreScope): Promise<Frame | ListedFile> {
    const { options } = this.shared;
    let entries: Dirent[];
    try {
      entries = await this.entriesOf(folder);
    } catch (error) {
      return this.failed(folder, error, true);
    }
    const holdsGit = entries.some((entry) => entry.name === ".git");
    const names = new Set(entries.filter((entry) => entry.isFile()).map((entry) => entry.name));
    const scope = options.useIgnoreFiles
      ? await outer.enter(folder, names, holdsGit, this.ignoreSetup)
      : IgnoreScope.empty;
    entries = entries.filter((entry) => entry.name !== ".git");
    entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    return { folder, scope, entries, next: 0, looked: [] };
  }

  private async look(folder: string, entry: Dirent, scope: IgnoreScope): Promise<Step> {
    const file = path.join(folder, entry.name);
    if (this.shared.explicit.has(file)) return undefined;
    const isFolder = entry.isDirectory();
    const left = this.leftOut(file, isFolder, scope);
    if (left !== undefined) return left;
    if (isFolder && !entry.name.includes("\uFFFD")) return { kind: "folder", path: file };
    if (entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()) {
      return this.skip(file, "notAFile", false);
    }
    try {
      const stats = await this.lstat(file);
      if (stats.isSymbolicLink()) return await this.linked(file);
      if (stats.isDirectory()) return { kind: "folder", path: file };
      return stats.isFile() ? this.file(file, stats) : this.skip(file, "notAFile", false);
    } catch (error) {
      // Bytes that are not UTF-8 come from the system as U+FFFD, and such a name cannot be asked for again.
      if (entry.name.includes("\uFFFD") && errorCode(error) === "ENOENT") {
        return this.skip(file, "unreadable", isFolder, "name is not valid UTF-8");
      }
      return this.failed(file, error, isFolder);
    }
  }

  private leftOut(file: string, folder: boolean, scope: IgnoreScope): ListedFile | undefined {
    const glob = this.shared.excludes(posix(path.relative(this.base.folder, file)));
    if (glob !== undefined) return this.skip(file, "excluded", folder, glob);
    const match = scope.match(posix(file), folder);
    return match?.ignored === true ? this.skip(file, "ignored", folder, match.rule) : undefined;
  }

  /**
   * A linked folder is not entered: git does not, and what is in it would be counted twice or without end. A linked file
   * is read as the editor opens it, once, unless its target lies in the walked tree and is met there. One that leads out
   * of the workspace would send what nobody chose: somebody else may have made the link.
   */
  private async linked(link: string): Promise<ListedFile> {
    const { realRoots, realFolders, linkTargets, options } = this.shared;
    let target: string;
    let stats: Stats;
    try {
      target = await this.timed(realpath(link));
      stats = await this.timed(stat(link));
    } catch (error) {
      const code = errorCode(error);
      if (code === "ELOOP") return this.skip(link, "symlinkLoop", false);
      if (code === "ENOENT") return this.skip(link, "unreadable", false, "link to nothing");
      return this.failed(link, error, false);
    }
    if (stats.isDirectory()) {
      const parent = await this.timed(realpath(path.dirname(link)));
      return this.skip(link, isWithin(parent, target) ? "symlinkLoop" : "linked", true, target);
    }
    if (!stats.isFile()) return this.skip(link, "notAFile", false, target);
    if (linkTargets.has(target) || realRoots.some((root) => isWithin(target, root))) {
      return this.skip(link, "linked", false, target);
    }
    if (options.followLinks !== true && !realFolders.some((folder) => isWithin(target, folder))) {
      return this.skip(link, "linkedOutside", false, target);
    }
    linkTargets.add(target);
    return this.file(link, stats);
  }

  private file(file: string, stats: Stats): ListedFile {
    if (stats.size > this.shared.options.maxFileBytes)
      return this.skip(file, "tooLarge", false, String(stats.size));
    return {
      kind: "file",
      file: {
        path: file,
        label: this.base.label(file),
        bytes: stats.size,
        mtimeMs: stats.mtimeMs,
        stamp: `${stats.ino} ${stats.ctimeMs}`,
      },
    };
  }

  private failed(file: string, error: unknown, folder: boolean): ListedFile {
    this.shared.signal.throwIfAborted();
    const { reason, detail } = unreadableBecause(error);
    return this.skip(file, reason, folder, detail);
  }

  private skip(file: string, reason: SkipReason, folder: boolean, detail?: string): ListedFile {
    const label = this.base.label(file);
    return {
      kind: "skipped",
      skipped: { path: file, label, reason, folder, ...(detail === undefined ? {} : { detail }) },
    };
  }

  private async entriesOf(folder: string): Promise<Dirent[]> {
    const { pace } = this.shared.setup;
    await pace.turn();
    const direct = folderSizesTell && pace.direct();
    if (direct && pace.time(() => lstatSync(folder).size) <= smallFolderBytes) {
      return pace.time(() => readdirSync(folder, { withFileTypes: true }));
    }
    return this.timed(readdir(folder, { withFileTypes: true }));
  }

  private lstat(file: string): Stats | Promise<Stats> {
    const { pace } = this.shared.setup;
    return pace.direct() ? pace.time(() => lstatSync(file)) : this.timed(lstat(file));
  }

  private timed<T>(work: Promise<T>): Promise<T> {
    return within(work, this.shared.setup.timeLimitMs, this.shared.signal);
  }
}
