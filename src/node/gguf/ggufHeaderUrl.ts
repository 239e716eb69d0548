import { count, say, type Text } from "../../core/text";
import { UserError, type UserErrorReason } from "../../core/userError";
import { TimeLimitError } from "../waiting/within";
import { withLimit } from "../waiting/withLimit";
import type { HeaderBytes } from "./headerBytes";

export interface UrlAccess {
  /** Sent with every request, e.g. an authorization of the user's. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds one request may take. */
  readonly timeout?: number;
}

/** Enough for the hyper-parameters and most vocabularies; then in few, growing steps. */
const firstRequest = 2 ** 20;
const largestStep = 32 * 2 ** 20;
/** Beside the time of one request, what its bytes may take. */
const leastBytesPerSecond = 50_000;

/** One answer, which is hung up on when it takes too long. */
interface Download {
  readonly response: Response;
  readonly hangUp: () => void;
  /** Waits for some of its bytes. */
  readonly inTime: <T>(bytes: number, work: () => Promise<T>) => Promise<T>;
}

/**
 * Reads a remote file's first bytes: with `Range` where the server knows it (each request asks for the next stretch
 * only), else by reading the stream as far as needed and then hanging up.
 */
export async function openUrl(address: string, signal: AbortSignal, access: UrlAccess): Promise<HeaderBytes> {
  const url = fileAddress(address);
  const stretches: Uint8Array[] = [];
  let have = 0;
  const first = await request(url, 0, firstRequest - 1, signal, access);
  if (first.response.status === 200) return streamed(first, url);
  const fileBytes =
    rangeOf(first.response)?.total ?? fail(url, say`it does not report the size of the file`, "badOutput");

  const take = async (download: Download, limit: number): Promise<void> => {
    try {
      if (rangeOf(download.response)?.from !== have) {
        fail(url, say`it sends another part of the file than was requested`, "badOutput");
      }
      const bytes = await download.inTime(limit, () => bodyOf(download.response, limit, url));
      if (bytes.byteLength === 0) fail(url, say`it sends less than was requested`, "badOutput");
      stretches.push(bytes);
      have += bytes.byteLength;
    } finally {
      download.hangUp();
    }
  };
  await take(first, firstRequest);
  return {
    fileBytes,
    first: async (wanted) => {
      if (wanted > have) {
        const end = Math.min(
          fileBytes,
          Math.max(wanted + firstRequest, Math.min(have * 4, have + largestStep)),
        );
        const next = await request(url, have, end - 1, signal, access);
        if (next.response.status !== 206) fail(url, say`it stopped answering range requests`, "badOutput");
        await take(next, end - have);
        // or a server could be asked for every single byte
        if (have < Math.min(wanted, fileBytes)) fail(url, say`it sends less than was requested`, "badOutput");
      }
      const joined = new Uint8Array(have);
      let at = 0;
      for (const stretch of stretches) {
        joined.set(stretch, at);
        at += stretch.byteLength;
      }
      return joined;
    },
    close: () => Promise.resolve(),
  };
}

/** A file's page on Hugging Face names the file itself under /resolve/. */
function fileAddress(address: string): string {
  return address.replace(/^(https?:\/\/(?:huggingface\.co|hf\.co)\/[^/]+\/[^/]+)\/blob\//, "$1/resolve/");
}

async function request(
  url: string,
  from: number,
  to: number,
  signal: AbortSignal,
  access: UrlAccess,
): Promise<Download> {
  const hanging = new AbortController();
  const hangUp = (): void => hanging.abort();
  const inTime = async <T>(bytes: number, work: () => Promise<T>): Promise<T> => {
    const limit = (access.timeout ?? 20_000) + (1000 * bytes) / leastBytesPerSecond;
    try {
      return await withLimit(signal, limit, work);
    } catch (error) {
      hangUp();
      signal.throwIfAborted();
      if (error instanceof UserError) throw error;
      if (error instanceof TimeLimitError) fail(url, say`it does not respond in time`, "timeout", error);
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const message = cause instanceof Error ? cause.message : String(cause);
      if (/redirect/i.test(message)) fail(url, say`it redirects in circles`, "badOutput", error);
      fail(url, say`it cannot be reached (${message})`, "refused", error);
    }
  };
  const response = await inTime(0, () =>
    fetch(url, {
      // what is unpacked on the way has no known size
      headers: { "accept-encoding": "identity", ...access.headers, Range: `bytes=${from}-${to}` },
      signal: hanging.signal,
    }),
  );
  if (response.status === 200 || response.status === 206) return { response, hangUp, inTime };
  hangUp();
  if (response.status === 401 || response.status === 403) {
    throw new UserError(
      "unauthorized",
      say`${url} requires authorization (HTTP ${String(response.status)}).`,
      say`Accept the model's license there and set an access token, or download the file.`,
    );
  }
  if (response.status === 404 || response.status === 410) {
    throw new UserError(
      "notFound",
      say`There is no model at ${url} (HTTP ${String(response.status)}).`,
      say`Check the address.`,
    );
  }
  return fail(url, say`it responds with HTTP ${String(response.status)}`, "outsideFailed");
}

/** Where the stretch begins and how large the file is, where the server says both as it should. */
function rangeOf(response: Response): { readonly from: number; readonly total: number } | undefined {
  const [, from, total] =
    /^bytes (\d+)-\d+\/(\d+)\s*$/i.exec(response.headers.get("content-range") ?? "") ?? [];
  const range = { from: Number(from), total: Number(total) };
  return Number.isSafeInteger(range.from) && Number.isSafeInteger(range.total) ? range : undefined;
}

async function bodyOf(response: Response, limit: number, url: string): Promise<Uint8Array> {
  const reader = readerOf(response, url);
  const stretches: Uint8Array[] = [];
  let filled = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(stretches);
    if (filled + value.byteLength > limit) fail(url, say`it sends more than was requested`, "badOutput");
    stretches.push(value);
    filled += value.byteLength;
  }
}

function streamed({ response, hangUp, inTime }: Download, url: string): HeaderBytes {
  const reader = readerOf(response, url);
  let buffer = new Uint8Array(firstRequest * 4);
  let filled = 0;
  let done = false;
  const fill = async (wanted: number): Promise<void> => {
    while (!done && filled < wanted) {
      const read = await reader.read();
      done = read.done;
      if (read.done) break;
      if (filled + read.value.byteLength > buffer.byteLength) {
        const larger = new Uint8Array(2 * (filled + read.value.byteLength));
        larger.set(buffer.subarray(0, filled));
        buffer = larger;
      }
      buffer.set(read.value, filled);
      filled += read.value.byteLength;
    }
  };
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  return {
    fileBytes: Number.isSafeInteger(length) && length >= 0 ? length : Number.MAX_SAFE_INTEGER,
    first: async (wanted) => {
      const enough = Math.max(wanted, firstRequest);
      await inTime(enough - Math.min(enough, filled), () => fill(enough));
      if (filled < wanted) {
        fail(url, say`it ended after ${count(filled)} byte[s], inside the header`, "badOutput");
      }
      return buffer.subarray(0, filled);
    },
    close: () => {
      hangUp();
      return Promise.resolve();
    },
  };
}

function readerOf(response: Response, url: string): ReadableStreamDefaultReader<Uint8Array> {
  return response.body?.getReader() ?? fail(url, say`it sends no content`, "badOutput");
}

function fail(url: string, what: Text, reason: UserErrorReason, cause?: unknown): never {
  throw new UserError(
    reason,
    say`The model's header cannot be read from ${url}: ${what}.`,
    say`Try again later, or download the file.`,
    { cause },
  );
}
