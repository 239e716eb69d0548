/** One exchange with an outside server: JSON in, JSON out, bounded in time and size. */
export interface HttpRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly bearer?: string;
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
}

export interface HttpReply {
  readonly status: number;
  /** The parsed JSON, undefined where the body is none. */
  readonly body: unknown;
}

export type HttpFailure =
  | { readonly kind: "refused" }
  | { readonly kind: "unknownHost" }
  | { readonly kind: "disconnected" }
  | { readonly kind: "timeout"; readonly seconds: number }
  | { readonly kind: "tooLarge"; readonly maxBytes: number }
  | { readonly kind: "other"; readonly detail: string };

/** Why there was no reply. The message names neither headers nor bodies. */
export class HttpError extends Error {
  override readonly name = "HttpError";

  constructor(readonly failure: HttpFailure) {
    super(failure.kind === "other" ? failure.detail : failure.kind);
  }
}

/** Fails with `HttpError`, or with the signal's reason when the caller aborts. Redirects are not followed. */
export async function exchangeJson(request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const expired = new HttpError({ kind: "timeout", seconds: request.timeoutSeconds });
  const timer = setTimeout(() => {
    stop.abort(expired);
  }, request.timeoutSeconds * 1000);
  const follow = (): void => {
    stop.abort(signal.reason);
  };
  signal.addEventListener("abort", follow, { once: true });
  try {
    const response = await fetch(request.url, {
      method: request.method ?? "GET",
      redirect: "manual",
      signal: stop.signal,
      headers: {
        accept: "application/json",
        ...(request.body !== undefined && { "content-type": "application/json" }),
        ...(request.bearer !== undefined && { authorization: `Bearer ${request.bearer}` }),
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    });
    return { status: response.status, body: parse(await readText(response, request.maxBytes, stop)) };
  } catch (cause) {
    signal.throwIfAborted();
    if (stop.signal.aborted) throw stop.signal.reason;
    throw cause instanceof HttpError ? cause : new HttpError(failureOf(cause));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}

async function readText(response: Response, maxBytes: number, stop: AbortController): Promise<string> {
  const tooLarge = new HttpError({ kind: "tooLarge", maxBytes });
  if (Number(response.headers.get("content-length") ?? 0) > maxBytes) {
    stop.abort(tooLarge);
    throw tooLarge;
  }
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > maxBytes) {
      stop.abort(tooLarge);
      throw tooLarge;
    }
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** fetch wraps what happened in a TypeError; the system's code is in its cause, or in the causes of an AggregateError. */
function failureOf(error: unknown): HttpFailure {
  const codes = codesOf(error);
  const has = (...wanted: readonly string[]): boolean => wanted.some((code) => codes.includes(code));
  if (has("ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL")) return { kind: "refused" };
  if (has("ENOTFOUND", "EAI_AGAIN")) return { kind: "unknownHost" };
  if (has("ECONNRESET", "EPIPE", "UND_ERR_SOCKET")) return { kind: "disconnected" };
  if (has("UND_ERR_CONNECT_TIMEOUT")) return { kind: "timeout", seconds: 10 };
  if (has("UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT")) return { kind: "timeout", seconds: 300 };
  return { kind: "other", detail: codes[0] ?? (error instanceof Error ? error.name : "no reply") };
}

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = "code" in error && typeof error.code === "string" ? [error.code] : [];
  const inner = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  return [...own, ...inner, ...codesOf(error.cause)];
}
