import http from "node:http";
import https from "node:https";
import { abortReason, onAbort } from "../../core/signals";

/** One exchange with an outside server: JSON in, JSON out, bounded in time and size. */
export interface HttpRequest {
  readonly url: string;
  readonly method?: "GET" | "POST";
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly bearer?: string;
  readonly timeoutSeconds: number;
  readonly maxBytes: number;
  /** The reply is text, not JSON. */
  readonly text?: true;
}

export interface HttpReply {
  readonly status: number;
  /** The parsed JSON, undefined where the body is none; the text where text was asked for. */
  readonly body: unknown;
}

export type HttpFailure =
  | { readonly kind: "refused" }
  | { readonly kind: "unknownHost" }
  | { readonly kind: "disconnected" }
  | { readonly kind: "notHttp" }
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

// fetch would do, but after an abort it opens a fresh connection to the server and keeps it for four seconds
const agents = {
  "http:": new http.Agent({ keepAlive: true }),
  "https:": new https.Agent({ keepAlive: true }),
} as const;

/** Fails with `HttpError`, or with the signal's reason when the caller aborts. Redirects are not followed. */
export async function exchangeJson(request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
  try {
    return await attempt(request, "reused", signal);
  } catch (cause) {
    if (!(cause instanceof StaleConnection)) throw cause;
    return attempt(request, "own", signal);
  }
}

/** A connection from an earlier exchange had been closed by the server when this one was sent on it. */
class StaleConnection extends Error {
  override readonly name = "StaleConnection";
}

async function attempt(
  request: HttpRequest,
  connection: "reused" | "own",
  signal: AbortSignal,
): Promise<HttpReply> {
  signal.throwIfAborted();
  const outgoing = open(request, connection);
  let timer: NodeJS.Timeout | undefined;
  let leave = (): void => undefined;
  try {
    return await new Promise<HttpReply>((resolve, reject) => {
      const fail = (failure: HttpFailure): void => reject(new HttpError(failure));
      leave = onAbort(signal, () => reject(abortReason(signal)));
      timer = setTimeout(
        () => fail({ kind: "timeout", seconds: request.timeoutSeconds }),
        request.timeoutSeconds * 1000,
      );
      let answered = false;
      outgoing.on("error", (error) => {
        const failure = failureOf(error);
        const stale = failure.kind === "disconnected" && outgoing.reusedSocket && !answered;
        if (stale) reject(new StaleConnection());
        else fail(failure);
      });
      outgoing.on("response", (response) => {
        answered = true;
        receive(response, request, resolve, fail);
      });
      outgoing.end(request.body === undefined ? undefined : JSON.stringify(request.body));
    });
  } catch (cause) {
    outgoing.destroy();
    throw cause;
  } finally {
    clearTimeout(timer);
    leave();
  }
}

export function open(
  request: Pick<HttpRequest, "url" | "method" | "body" | "bearer">,
  connection: "reused" | "own",
): http.ClientRequest {
  const url = new URL(request.url);
  const [{ request: start }, agent] =
    url.protocol === "https:" ? [https, agents["https:"]] : [http, agents["http:"]];
  return start(url, {
    agent: connection === "reused" ? agent : false,
    method: request.method ?? "GET",
    headers: {
      accept: "application/json",
      ...(request.body !== undefined && { "content-type": "application/json" }),
      ...(request.bearer !== undefined && { authorization: `Bearer ${request.bearer}` }),
    },
  });
}

export function receive(
  response: http.IncomingMessage,
  { maxBytes, text }: Pick<HttpRequest, "maxBytes" | "text">,
  done: (reply: HttpReply) => void,
  fail: (failure: HttpFailure) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = Number(response.headers["content-length"] ?? 0) > maxBytes ? Infinity : 0;
  const take = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else fail({ kind: "tooLarge", maxBytes });
  };
  take(Buffer.alloc(0));
  response.on("data", take);
  response.on("error", (error) => fail(failureOf(error)));
  response.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    done({ status: response.statusCode ?? 0, body: text === true ? body : parse(body) });
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The system's code; where a name has several addresses it is in the causes of an AggregateError. */
export function failureOf(error: Error): HttpFailure {
  const codes = codesOf(error);
  const has = (...wanted: readonly string[]): boolean => wanted.some((code) => codes.includes(code));
  if (has("ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL", "ETIMEDOUT"))
    return { kind: "refused" };
  if (has("ENOTFOUND", "EAI_AGAIN")) return { kind: "unknownHost" };
  if (has("ECONNRESET", "EPIPE")) return { kind: "disconnected" };
  if (codes.some((code) => code.startsWith("HPE_"))) return { kind: "notHttp" };
  return { kind: "other", detail: codes[0] ?? error.name };
}

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = "code" in error && typeof error.code === "string" ? [error.code] : [];
  const inner = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  return [...own, ...inner];
}
