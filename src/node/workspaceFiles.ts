import type { FileSource, FileText } from "../core/ports";
import type { FileRef } from "../core/tokens/files";
import { isNotebook, notebookText } from "../core/tokens/notebookText";
import { Pace } from "./workspaceFilesPace";
import { readText, type ForeignDecoder } from "./workspaceFilesRead";
import { walk } from "./workspaceFilesWalk";

export interface WorkspaceFilesOptions {
  /** For files that are neither UTF-8 nor UTF-16; without it their bad bytes become U+FFFD. */
  readonly decodeForeign?: ForeignDecoder;
  /** git's core.excludesFile. */
  readonly globalExcludesFile?: string;
  /** Most bytes ever read of one file, should it have grown since it was listed. */
  readonly maxReadBytes?: number;
  /** How long one call to the file system may take (a network folder that does not answer). */
  readonly timeLimitMs?: number;
}

/** Most bytes ever read of one file. */
export const mostReadBytes = 256 * 1024 * 1024;

/** The files of this machine; notebooks by their cells. */
export function workspaceFiles(options: WorkspaceFilesOptions = {}): FileSource {
  const limits = { maxReadBytes: mostReadBytes, timeLimitMs: 15_000, pace: new Pace(), ...options };
  return {
    list: (roots, walkOptions, signal) => walk(roots, walkOptions, limits, signal),
    read: async (file, signal) => byCells(file, await readText(file, limits, signal)),
    // a disk or network that is slow is read with time limits, here
    onDisk: (file) => file.unsaved !== true && file.bytes <= limits.maxReadBytes && limits.pace.isFast,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

function byCells(file: FileRef, content: FileText): FileText {
  if (content.kind === "skipped" || !isNotebook(file.label)) return content;
  const text = notebookText(content.text);
  return text === undefined ? content : { ...content, text, form: "notebook" };
}
