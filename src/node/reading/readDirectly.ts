import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { FileRef, SkippedFile, SkipReason } from "../../core/files/files";
import { encodingOf, headBytes } from "./decodeFile";
import { errorCode } from "../waiting/within";
import { openFlags } from "./regularFile";

export type DirectRead =
  | { readonly kind: "read"; readonly bytes: Buffer }
  /** It is larger than what is read at once, or has grown while it was read. */
  | { readonly kind: "longer" }
  | { readonly kind: "skipped"; readonly skipped: SkippedFile };

/**
 * A file's bytes as they are now, read on this thread: at most `most` of them, and of a binary file no more than the head.
 * @param room gives the memory they are read into
 * @throws the system's error
 */
export function readDirectly(
  file: FileRef,
  most: number,
  room: (bytes: number) => Buffer = (bytes) => Buffer.allocUnsafe(bytes),
): DirectRead {
  const descriptor = openSync(file.path, openFlags);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return skip(file, "notAFile");
    if (stats.size > most) return { kind: "longer" };
    const buffer = room(stats.size + 1);
    let filled = readFrom(descriptor, buffer, 0, Math.min(buffer.length, headBytes));
    if (encodingOf(buffer.subarray(0, Math.min(filled, headBytes))) === "binary")
      return skip(file, "binary", "NUL");
    filled = readFrom(descriptor, buffer, filled, buffer.length);
    return filled > stats.size ? { kind: "longer" } : { kind: "read", bytes: buffer.subarray(0, filled) };
  } finally {
    closeSync(descriptor);
  }
}

/** Reads until the buffer is filled up to `to` or the file ends; returns how far it is filled. */
function readFrom(descriptor: number, buffer: Buffer, from: number, to: number): number {
  let filled = from;
  for (let got = -1; got !== 0 && filled < to; filled += got) {
    got = readSync(descriptor, buffer, filled, to - filled, filled);
  }
  return filled;
}

/** What cannot be read, in the words of a skip. */
export function unreadable(file: FileRef, error: unknown): Extract<DirectRead, { readonly kind: "skipped" }> {
  const { reason, detail } = unreadableBecause(error);
  return skip(file, reason, detail);
}

/** Why the system refuses to read; everything else is a bug, and thrown again. */
export function unreadableBecause(error: unknown): {
  readonly reason: "vanished" | "unreadable";
  readonly detail: string;
} {
  const code = errorCode(error);
  if (code === undefined) throw error;
  if (code === "ENOENT" || code === "ENOTDIR") return { reason: "vanished", detail: code };
  const tooMany = code === "EMFILE" || code === "ENFILE";
  return { reason: "unreadable", detail: tooMany ? `${code}: too many open files, see ulimit -n` : code };
}

export function skip(
  { path, label }: FileRef,
  reason: SkipReason,
  detail?: string,
): { readonly kind: "skipped"; readonly skipped: SkippedFile } {
  const skipped = { path, label, reason, folder: false, ...(detail === undefined ? {} : { detail }) };
  return { kind: "skipped", skipped };
}

/** Most bytes ever read of one file. */
export const mostReadBytes = 256 * 1024 * 1024;
