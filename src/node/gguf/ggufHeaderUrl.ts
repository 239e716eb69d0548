import { count, say, type Text } from "../../core/text";
import { UserError, type UserErrorReason } from "../../core/userError";
import type { HeaderBytes } from "./headerBytes";

export interface UrlAccess {
  /** Sent with every request, e.g. an authorization of the user's. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds one request may take. */
  readonly timeout?: number;
}

/** Enough for the hyper-parameters and most vocabularies; then in few, growing steps. */
const firstRequest = 2 ** 20;

/**
 * Reads a remote file's first bytes: with `Range` where the server knows it (each request asks for the next stretch
 * only), else by reading the stream as far as needed and then hanging up.
 */
export async function openUrl(address: string, signal: AbortSignal, access: UrlAccess): Promise<HeaderBytes> {
  const url = fileAddress(address);
  const stretches: Uint8Array[] = [];
  let have = 0;
  const first = await request(url, 0, firstRequest - 1, signal, access);
  if (first.status === 200) return streamed(first, url, signal);
  const fileBytes = totalOf(first) ?? fail(url, say`it does not report the size of the file`, "badOutput");

  const take = async (response: Response, limit: number): Promise<void> => {
    const bytes = await bodyOf(response, limit, url);
    stretches.push(bytes);
    have += bytes.byteLength;
  };
  await take(first, firstRequest);
  return {
    fileBytes,
    first: async (wanted) => {
      if (wanted > have) {
        const end = Math.min(fileBytes, Math.max(wanted + firstRequest, have * 4));
        const response = await request(url, have, end - 1, signal, access);
        if (response.status !== 206) fail(url, say`it stopped answering range requests`, "badOutput");
        await take(response, end - have);
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
): Promise<Response> {
  const timeout = AbortSignal.timeout(access.timeout ?? 20_000);
  let response: Response;
  try {
    response = await fetch(url, {
      headers: { ...access.headers, Range: `bytes=${from}-${to}` },
      signal: AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) fail(url, say`it does not respond in time`, "timeout", error);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const message = cause instanceof Error ? cause.message : String(cause);
    if (/redirect/i.test(message)) fail(url, say`it redirects in circles`, "badOutput", error);
    fail(url, say`it cannot be reached (${message})`, "refused", error);
  }
  if (response.status === 200 || response.status === 206) return response;
  await response.body?.cancel();
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

function totalOf(response: Response): number | undefined {
  const total = /\/(\d+)\s*$/.exec(response.headers.get("content-range") ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

async function bodyOf(response: Response, limit: number, url: string): Promise<Uint8Array> {
  const reader = readerOf(response, url);
  const bytes = new Uint8Array(limit);
  let filled = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bytes.subarray(0, filled);
    if (filled + value.byteLength > limit) {
      await reader.cancel();
      fail(url, say`it sends more than was requested`, "badOutput");
    }
    bytes.set(value, filled);
    filled += value.byteLength;
  }
}

function streamed(response: Response, url: string, signal: AbortSignal): HeaderBytes {
  const reader = readerOf(response, url);
  let buffer = new Uint8Array(firstRequest * 4);
  let filled = 0;
  let done = false;
  return {
    fileBytes: Number(response.headers.get("content-length") ?? Number.MAX_SAFE_INTEGER),
    first: async (wanted) => {
      while (!done && filled < Math.max(wanted, firstRequest)) {
        signal.throwIfAborted();
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
      if (filled < wanted) {
        fail(url, say`it ended after ${count(filled)} byte[s], inside the header`, "badOutput");
      }
      return buffer.subarray(0, filled);
    },
    close: () => reader.cancel(),
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
