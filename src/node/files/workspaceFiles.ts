import type { FileText, FileSource, FileRef } from "../../core/files/files";
import { isNotebook } from "../../core/files/notebookText";
import { mostReadBytes } from "../reading/readDirectly";
import { NotebookTexts } from "./notebookTexts";
import { Pace } from "./pace";
import { readText, type ForeignDecoder } from "./readFileText";
import { walk } from "./walk";

export interface WorkspaceFilesOptions {
  /** For files that are neither UTF-8 nor UTF-16; without it their bad bytes become U+FFFD. */
  readonly decodeForeign?: ForeignDecoder;
  /** git's core.excludesFile. */
  readonly globalExcludesFile?: string;
  /** Most bytes ever read of one file, should it have grown since it was listed. */
  readonly maxReadBytes?: number;
  /** How long one call to the file system may take (a network folder that does not answer). */
  readonly timeLimitMs?: number;
  /** The bundled worker program; the one beside this program where it is not named. */
  readonly workerFile?: string;
}

/** The files of this machine; notebooks by their cells. */
export function workspaceFiles(options: WorkspaceFilesOptions = {}): FileSource {
  const limits = { maxReadBytes: mostReadBytes, timeLimitMs: 15_000, pace: new Pace(), ...options };
  const notebooks = new NotebookTexts(options.workerFile);
  const byCells = async (file: FileRef, content: FileText, signal: AbortSignal): Promise<FileText> => {
    if (content.kind === "skipped" || !isNotebook(file.label)) return content;
    const text = await notebooks.of(content.text, signal);
    return text === undefined ? content : { ...content, text, form: "notebook" };
  };
  return {
    list: (roots, walkOptions, signal) => walk(roots, walkOptions, limits, signal),
    read: async (file, signal) => byCells(file, await readText(file, limits, signal), signal),
    onDisk: (file) => file.unsaved !== true && file.bytes <= limits.maxReadBytes,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  };
}
