import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import type { FileText } from "../core/ports";
import type { FileRef, SkipReason } from "../core/tokens/files";
import { abortReason, errorCode, within } from "./workspaceFilesLimits";
import type { Pace } from "./workspaceFilesPace";

/** Turns bytes that are neither UTF-8 nor UTF-16 into text, as the editor would show them. */
export type ForeignDecoder = (bytes: Uint8Array, file: string) => Promise<string>;

export interface ReadOptions {
  readonly decodeForeign?: ForeignDecoder;
  readonly maxReadBytes: number;
  readonly timeLimitMs: number;
  readonly pace: Pace;
}

const headBytes = 8192;
/** Most bytes read at one go. */
const directBytes = 64 * 1024;
/** Windows has no such flag. */
const nonBlocking = (constants as { readonly O_NONBLOCK?: number }).O_NONBLOCK ?? 0;
/** Opening a FIFO would wait for a writer; the entry may have been replaced by one since it was listed. */
const openFlags = constants.O_RDONLY | nonBlocking;
const chunkBytes = 1024 * 1024;

/**
 * The text of a file as VS Code shows it and the prompt carries it: UTF-8 and UTF-16 (by byte order mark, or by VS Code's
 * own test of the first 512 bytes), without the mark. A NUL in the first 8 KiB otherwise means binary.
 */
export async function readText(file: FileRef, options: ReadOptions, signal: AbortSignal): Promise<FileText> {
  signal.throwIfAborted();
  try {
    if (file.bytes <= directBytes && options.pace.direct()) {
      const read = options.pace.time(() => readDirectly(file, options));
      if (read !== "longer") return read instanceof Uint8Array ? await decodeHead(read, file, options) : read;
    }
    return await readInParts(file, options, signal);
  } catch (error) {
    if (signal.aborted) throw abortReason(signal);
    const code = errorCode(error);
    if (code === undefined) throw error;
    return skip(file, code === "ENOENT" || code === "ENOTDIR" ? "vanished" : "unreadable", code);
  }
}

/** "longer" where the file has grown beyond what is read at once. */
function readDirectly(file: FileRef, { maxReadBytes }: ReadOptions): Buffer | FileText | "longer" {
  const descriptor = openSync(file.path, openFlags);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return skip(file, "notAFile");
    if (stats.size > maxReadBytes) return skip(file, "tooLarge");
    if (stats.size > directBytes) return "longer";
    const buffer = Buffer.allocUnsafe(stats.size + 1);
    let filled = 0;
    for (let got = -1; got !== 0 && filled < buffer.length; filled += got) {
      got = readSync(descriptor, buffer, filled, buffer.length - filled, filled);
    }
    return filled > stats.size ? "longer" : buffer.subarray(0, filled);
  } finally {
    closeSync(descriptor);
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

async function decodeHead(bytes: Buffer, file: FileRef, options: ReadOptions): Promise<FileText> {
  const encoding = encodingOf(bytes.subarray(0, headBytes));
  return encoding === "binary" ? skip(file, "binary", "NUL") : await decode(bytes, encoding, file, options);
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
  const encoding = encodingOf(head);
  if (encoding === "binary") return skip(file, "binary", "NUL");
  if (head.length < headBytes) return decode(head, encoding, file, options);

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
  return decode(Buffer.concat(parts, total), encoding, file, options);
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

type Encoding = "utf8" | "utf16le" | "utf16be" | "binary";

export function encodingOf(head: Uint8Array): Encoding {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf16be";
  if (!head.includes(0)) return "utf8";
  return utf16WithoutMark(head.subarray(0, 512)) ?? "binary";
}

/** VS Code's test: every odd byte NUL and no even one (little endian), or the other way round. */
function utf16WithoutMark(bytes: Uint8Array): "utf16le" | "utf16be" | undefined {
  let little = true;
  let big = true;
  let zeros = false;
  for (const [index, byte] of bytes.entries()) {
    const zero = byte === 0;
    const odd = index % 2 === 1;
    if (zero) zeros = true;
    if (odd !== zero) little = false;
    if (odd === zero) big = false;
  }
  if (!zeros) return undefined;
  return little ? "utf16le" : big ? "utf16be" : undefined;
}

async function decode(
  bytes: Buffer,
  encoding: Encoding,
  file: FileRef,
  options: ReadOptions,
): Promise<FileText> {
  if (encoding === "utf16le" || encoding === "utf16be") {
    const decoder = new TextDecoder(encoding === "utf16le" ? "utf-16le" : "utf-16be");
    return { kind: "text", text: decoder.decode(bytes), encoding: "utf16" };
  }
  if (isUtf8(bytes)) {
    const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return { kind: "text", text: bytes.toString("utf8", marked ? 3 : 0) };
  }
  if (controlShare(bytes.subarray(0, headBytes)) > 0.05) return skip(file, "binary", "control characters");
  if (options.decodeForeign !== undefined) {
    const text = await options.decodeForeign(bytes, file.path);
    return { kind: "text", text, encoding: text.includes("\uFFFD") ? "replaced" : "foreign" };
  }
  return { kind: "text", text: bytes.toString("utf8"), encoding: "replaced" };
}

/** Control characters no text has: not tab, line ends, form feed, escape (colours, ISO-2022). */
function controlShare(bytes: Uint8Array): number {
  let controls = 0;
  for (const byte of bytes) {
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) controls++;
  }
  return controls / Math.max(1, bytes.length);
}

function skip(file: FileRef, reason: SkipReason, detail?: string): FileText {
  const { path, label } = file;
  const skipped = { path, label, reason, folder: false, ...(detail === undefined ? {} : { detail }) };
  return { kind: "skipped", skipped };
}
