import { open, type FileHandle } from "node:fs/promises";
import type { FileText, FileRef } from "../../core/files/files";
import { decodeFile, encodingOf, headBytes } from "../reading/decodeFile";
import { readDirectly, skip, unreadable } from "../reading/readDirectly";
import { openFlags } from "../reading/regularFile";
import { abortReason } from "../../core/signals";
import { within } from "../waiting/within";
import type { Pace } from "./pace";

/** Turns bytes that are neither UTF-8 nor UTF-16 into text, as the editor would show them. */
export type ForeignDecoder = (bytes: Uint8Array, file: string) => Promise<string>;

export interface ReadOptions {
  readonly decodeForeign?: ForeignDecoder;
  readonly maxReadBytes: number;
  readonly timeLimitMs: number;
  readonly pace: Pace;
}

/** Most bytes read at one go. */
const directBytes = 64 * 1024;
const chunkBytes = 1024 * 1024;

/** The text of a file as VS Code shows it and the prompt carries it, without byte order mark. */
export async function readText(file: FileRef, options: ReadOptions, signal: AbortSignal): Promise<FileText> {
  signal.throwIfAborted();
  try {
    if (file.bytes <= directBytes && options.pace.direct()) {
      const most = Math.min(directBytes, options.maxReadBytes);
      const read = options.pace.time(() => readDirectly(file, most));
      if (read.kind === "skipped") return read;
      if (read.kind === "read") return await decode(read.bytes, file, options);
    }
    return await readInParts(file, options, signal);
  } catch (error) {
    if (signal.aborted) throw abortReason(signal);
    return unreadable(file, error);
  }
}

async function readInParts(file: FileRef, options: ReadOptions, signal: AbortSignal): Promise<FileText> {
  const opening = open(file.path, openFlags);
  const handle = await within(opening, options.timeLimitMs, signal).catch((error: unknown) => {
    void opening.then((late) => late.close()).catch(() => undefined);
    throw error;
  });
  try {
    return await readHandle(handle, file, options, signal);
  } finally {
    await handle.close();
  }
}

async function readHandle(
  handle: FileHandle,
  file: FileRef,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<FileText> {
  const stats = await within(handle.stat(), options.timeLimitMs, signal);
  if (!stats.isFile()) return skip(file, "notAFile");
  if (stats.size > options.maxReadBytes) return skip(file, "tooLarge");
  const head = await readUpTo(handle, 0, Math.min(headBytes, options.maxReadBytes), options, signal);
  if (encodingOf(head) === "binary") return skip(file, "binary", "NUL");
  if (head.length < headBytes) return decode(head, file, options);

  const parts = [head];
  let total = head.length;
  for (;;) {
    const want = Math.min(Math.max(stats.size - total, 1), chunkBytes);
    const part = await readUpTo(handle, total, want, options, signal);
    if (part.length === 0) break;
    total += part.length;
    if (total > options.maxReadBytes) return skip(file, "tooLarge");
    parts.push(part);
  }
  return decode(Buffer.concat(parts, total), file, options);
}

/** Fewer bytes than wanted only at the end of the file. */
async function readUpTo(
  handle: FileHandle,
  position: number,
  length: number,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const reading = handle.read(buffer, filled, length - filled, position + filled);
    const { bytesRead } = await within(reading, options.timeLimitMs, signal);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function decode(bytes: Buffer, file: FileRef, options: ReadOptions): Promise<FileText> {
  const decoded = decodeFile(bytes);
  switch (decoded.kind) {
    case "utf8":
      return { kind: "text", text: decoded.bytes.toString("utf8") };
    case "utf16":
      return { kind: "text", text: decoded.text, encoding: "utf16" };
    case "binary":
      return skip(file, "binary", decoded.detail);
    case "foreign": {
      if (options.decodeForeign === undefined) {
        return { kind: "text", text: bytes.toString("utf8"), encoding: "replaced" };
      }
      const text = await options.decodeForeign(bytes, file.path);
      return { kind: "text", text, encoding: text.includes("\uFFFD") ? "replaced" : "foreign" };
    }
  }
}
