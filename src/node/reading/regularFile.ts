import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { errorCode } from "../waiting/within";

/** Windows has no such flag. */
const nonBlocking = (constants as { readonly O_NONBLOCK?: number }).O_NONBLOCK ?? 0;
/** Opening a FIFO would wait for a writer, and nothing could stop it. */
export const openFlags = constants.O_RDONLY | nonBlocking;

/** What is appended to must not be waited for either. */
export const appendFlags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | nonBlocking;

/** The system's errors have codes as well. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";

  constructor(
    file: string,
    /** A FIFO, a device, a folder; more than was allowed; a pipe nobody writes into. */
    readonly code: "NOT_A_FILE" | "TOO_LARGE" | "NO_WRITER",
  ) {
    super(`${file}: ${code}`);
  }
}

export interface Reading {
  /** Bytes that are read at most. */
  readonly most: number;
  /** `whole` (usual): a larger file is an error. */
  readonly part?: "whole" | "start" | "end";
  /** What somebody named on the command line may be a pipe. */
  readonly pipes?: true;
  readonly signal?: AbortSignal;
}

/** Opens what somebody else may have put there, if it is an ordinary file. @throws UnreadableError, the system's errors */
export async function openRegular(
  file: string,
): Promise<{ readonly handle: FileHandle; readonly size: number }> {
  const handle = await open(file, openFlags);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new UnreadableError(file, "NOT_A_FILE");
    return { handle, size: stats.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The bytes of a file, which ends and holds no more than is allowed. @throws UnreadableError, the system's errors */
export async function readRegular(file: string, reading: Reading): Promise<Buffer> {
  const { most, part = "whole", pipes, signal } = reading;
  signal?.throwIfAborted();
  const handle = await open(file, openFlags);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) {
      if (pipes === undefined || stats.isDirectory()) throw new UnreadableError(file, "NOT_A_FILE");
      return await readPipe(handle, file, reading);
    }
    if (part === "whole" && stats.size > most) throw new UnreadableError(file, "TOO_LARGE");
    // files of /proc say that they are empty
    const length = part === "end" ? Math.min(stats.size, most) : most;
    const from = part === "end" ? stats.size - length : 0;
    const bytes = await readUpTo(handle, from, Math.min(length, Math.max(stats.size, smallest)), signal);
    if (bytes.length < length || part !== "whole") return bytes;
    const more = await handle.read(Buffer.alloc(1), 0, 1, from + length);
    if (more.bytesRead > 0) throw new UnreadableError(file, "TOO_LARGE");
    return bytes;
  } finally {
    await handle.close();
  }
}

export const textOfRegular = async (file: string, reading: Reading): Promise<string> =>
  (await readRegular(file, reading)).toString("utf8");

const smallest = 64 * 1024;
const chunk = 4 * 2 ** 20;

async function readUpTo(
  handle: FileHandle,
  from: number,
  length: number,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    signal?.throwIfAborted();
    const wanted = Math.min(chunk, length - filled);
    const { bytesRead } = await handle.read(buffer, filled, wanted, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function readPipe(handle: FileHandle, file: string, { most, signal }: Reading): Promise<Buffer> {
  const parts: Buffer[] = [];
  let total = 0;
  for (;;) {
    signal?.throwIfAborted();
    const part = Buffer.allocUnsafe(smallest);
    let got: number;
    try {
      got = (await handle.read(part, 0, part.length, null)).bytesRead;
    } catch (error) {
      if (errorCode(error) !== "EAGAIN") throw error;
      await wait(20);
      continue;
    }
    if (got === 0) break;
    total += got;
    if (total > most) throw new UnreadableError(file, "TOO_LARGE");
    parts.push(part.subarray(0, got));
  }
  if (total === 0) throw new UnreadableError(file, "NO_WRITER");
  return Buffer.concat(parts, total);
}
