import type { GaugeReport } from "./gaugeReport";

export type FileChange = "changed" | "created" | "deleted";

/** Tells which changes on disk can change a report; made once per report. */
export class ReportedFiles {
  private readonly counted: ReadonlySet<string>;
  private readonly skippedFiles: ReadonlySet<string>;
  private readonly skippedFolders: ReadonlySet<string>;

  /** @param roots absolute paths of what was asked for */
  constructor(
    { tokens }: GaugeReport,
    private readonly roots: readonly string[],
  ) {
    this.counted = new Set(tokens.files.map(({ file }) => file.path));
    this.skippedFiles = new Set(tokens.skipped.filter(({ folder }) => !folder).map(({ path }) => path));
    this.skippedFolders = new Set(tokens.skipped.filter(({ folder }) => folder).map(({ path }) => path));
  }

  has(path: string): boolean {
    return this.counted.has(path);
  }

  /** What was left out stays left out when it changes; a new file may count. */
  concerns(path: string, change: FileChange): boolean {
    if (this.counted.has(path)) return true;
    if (/[\\/]\.(gitignore|llamagaugeignore|gitattributes)$/.test(path)) return this.isUnderRoot(path);
    if (change !== "created" || this.skippedFiles.has(path))
      return change === "deleted" && this.holdsCounted(path);
    return this.isUnderRoot(path) && !this.isSkipped(path);
  }

  /** A deleted folder is told of itself only. */
  private holdsCounted(folder: string): boolean {
    if (!this.isUnderRoot(folder)) return false;
    for (const path of this.counted) if (isUnder(path, folder)) return true;
    return false;
  }

  private isUnderRoot(path: string): boolean {
    return this.roots.some((root) => isUnder(path, root));
  }

  private isSkipped(path: string): boolean {
    for (let at = path; ;) {
      if (this.skippedFolders.has(at)) return true;
      if (/[\\/]\.git$/.test(at)) return true;
      const end = Math.max(at.lastIndexOf("/"), at.lastIndexOf("\\"));
      if (end <= 0) return false;
      at = at.slice(0, end);
    }
  }
}

/** The path itself, or one below it. */
function isUnder(path: string, root: string): boolean {
  if (path === root) return true;
  const separator = root.includes("\\") && !root.includes("/") ? "\\" : "/";
  return path.startsWith(/[\\/]$/.test(root) ? root : root + separator);
}
