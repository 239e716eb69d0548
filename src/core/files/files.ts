/** A file as the walk found it. `path` is absolute; `label` is how it is named in the prompt and on screen (relative, `/`). */
export interface FileRef {
  readonly path: string;
  readonly label: string;
  readonly bytes: number;
  readonly mtimeMs: number;
  /** What else changes when a file is written, also where size and time do not: its inode and time of change. */
  readonly stamp?: string;
  /** The text stands in an editor and not on disk: size and time say nothing about it. */
  readonly unsaved?: true;
}

export type SkipReason =
  | "ignored" // .gitignore or another ignore file
  | "excluded" // files.exclude, own excludes
  | "binary"
  | "tooLarge"
  | "unreadable"
  | "notAFile" // FIFO, socket, device
  | "symlinkLoop"
  | "linked" // a linked folder is not entered; a linked file whose target is counted at its own place
  | "linkedOutside" // a link to a file outside of the workspace and of what was chosen
  | "vanished"
  | "crashRisk" // counting it by the server could crash the server
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
  /** Globs in VS Code's syntax, relative to the workspace folder a root lies in, else to the root. */
  readonly exclude: readonly string[];
  /** .gitignore (nested, and those above the root up to the repository's), .git/info/exclude, .llamagaugeignore. */
  readonly useIgnoreFiles: boolean;
  /** Also links that lead out of the workspace folders and the roots; usually not. */
  readonly followLinks?: boolean;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  /** Absolute paths. Labels and globs are relative to the innermost one that holds the root. */
  readonly workspaceFolders?: readonly string[];
}

export const defaultWalkOptions: WalkOptions = {
  exclude: [],
  useIgnoreFiles: true,
  maxFileBytes: 32 * 1024 * 1024,
  maxFiles: 200_000,
};

/**
 * How a file's bytes became text. `foreign`: by the given decoder, neither UTF-8 nor UTF-16. `replaced`: not valid UTF-8 and
 * no decoder; bad bytes stand as U+FFFD, as VS Code shows them.
 */
export type TextEncoding = "utf8" | "utf16" | "foreign" | "replaced";

/** What a text was made of, where it is not the file as it is. */
export type TextForm = "notebook"; // its cells, without outputs

/** Every method takes the caller's signal, has its own time and size limit, and fails with a `UserError` or an abort. */
export interface FileSource {
  /** Files under the roots (absolute paths, files or folders) in a stable order, and everything left out with its reason. */
  list(roots: readonly string[], options: WalkOptions, signal: AbortSignal): AsyncIterable<ListedFile>;
  /** The text as it would be sent. A file that turns out unreadable or binary is a skip, not an error. */
  read(file: FileRef, signal: AbortSignal): Promise<FileText>;
  /** Whether the text is what the bytes at its path say now, so that another thread may read it. */
  readonly onDisk?: (file: FileRef) => boolean;
  /** Lets whatever else waits for this thread run; long work on texts calls it every few milliseconds. */
  readonly pause?: () => Promise<void>;
}

export type ListedFile =
  | { readonly kind: "file"; readonly file: FileRef }
  | { readonly kind: "skipped"; readonly skipped: SkippedFile };

export type FileText =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly encoding?: TextEncoding;
      readonly form?: TextForm;
    }
  | { readonly kind: "skipped"; readonly skipped: SkippedFile };
