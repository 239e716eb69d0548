/** A file as the walk found it. `path` is absolute; `label` is how it is named in the prompt and on screen (relative, `/`). */
export interface FileRef {
  readonly path: string;
  readonly label: string;
  readonly bytes: number;
  readonly mtimeMs: number;
}

export type SkipReason =
  | "ignored" // .gitignore or another ignore file
  | "excluded" // files.exclude, own excludes
  | "binary"
  | "tooLarge"
  | "unreadable"
  | "notAFile" // FIFO, socket, device
  | "symlinkLoop"
  | "vanished"
  | "tooMany";

/** A file or whole folder that is not counted. `detail` is for people: the rule, the size, the system's error. */
export interface SkippedFile {
  readonly path: string;
  readonly label: string;
  readonly reason: SkipReason;
  readonly folder: boolean;
  readonly detail?: string;
}

export interface WalkOptions {
  /** Globs relative to each root, VS Code's syntax. */
  readonly exclude: readonly string[];
  readonly useIgnoreFiles: boolean;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
}
