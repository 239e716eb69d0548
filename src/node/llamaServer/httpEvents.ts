import type { IncomingMessage } from "node:http";
import { onAbort } from "../../core/signals";
import { Wire } from "../../core/wire";
import { HttpError, failureOf, open, receive, type HttpReply, type HttpRequest } from "./httpJson";

export type ServerEvent = Readonly<Record<string, unknown>>;

/** A reply that is no success, in place of a stream. */
export class HttpRefusal extends Error {
  override readonly name = "HttpRefusal";

  constructor(readonly reply: HttpReply) {
    super(`status ${String(reply.status)}`);
  }
}

/** What a stream may bring at most: who sends more is not who was asked. */
export interface StreamLimits {
  readonly events: number;
  readonly eventBytes: number;
  readonly bytes: number;
}

const maxRefusalBytes = 100_000;

/**
 * One POST that is answered with server-sent events. An abort, or who reads no further, closes the stream, which makes
 * llama-server stop. Not `fetch`: it gives up after five silent minutes, which one batch of a slow machine can take. The
 * connection is new: one from before may just be closing (llama-server ends idle ones after 5 s).
 * @throws HttpError, HttpRefusal, or the signal's reason
 */
export async function* exchangeEvents(
  request: Pick<HttpRequest, "url" | "body" | "bearer"> & { readonly limits: StreamLimits },
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  signal.throwIfAborted();
  const outgoing = open({ ...request, method: "POST" }, "own");
  const leave = onAbort(signal, () => outgoing.destroy(new Error("aborted")));
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on("response", resolve).on("error", reject);
      // closed without either where another protocol was agreed to (101)
      outgoing.on("close", () => reject(new HttpError({ kind: "disconnected" })));
      outgoing.end(JSON.stringify(request.body));
    });
    if (response.statusCode !== 200) throw new HttpRefusal(await replyOf(response));
    yield* eventsOf(response, request.limits);
  } catch (cause) {
    signal.throwIfAborted();
    throw cause instanceof Error && "code" in cause ? new HttpError(failureOf(cause)) : cause;
  } finally {
    leave();
    outgoing.destroy();
  }
}

function replyOf(response: IncomingMessage): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    receive(response, { maxBytes: maxRefusalBytes }, resolve, (failure) => reject(new HttpError(failure)));
  });
}

/** The JSON of every `data:` line; comments and `[DONE]` are passed over, and what is torn says nothing. */
async function* eventsOf(body: AsyncIterable<unknown>, limits: StreamLimits): AsyncGenerator<ServerEvent> {
  let bytes = 0;
  let events = 0;
  for await (const { line, more } of linesOf(body, limits.eventBytes)) {
    bytes += more;
    if (bytes > limits.bytes) throw new HttpError({ kind: "tooLarge", maxBytes: limits.bytes });
    if (!line.startsWith("data:")) continue;
    const event = Wire.ofJson(line.slice("data:".length), "event")?.ifFits((value) => value.object());
    if (event === undefined) continue;
    if (++events > limits.events) throw new HttpError({ kind: "tooLarge", maxBytes: bytes });
    yield event;
  }
}

/** Every line, with the bytes that came since the one before. */
async function* linesOf(
  body: AsyncIterable<unknown>,
  maxBytes: number,
): AsyncGenerator<{ readonly line: string; readonly more: number }> {
  const decoder = new TextDecoder();
  // pieces of the line that has not ended: joined once, however small they come
  let open: string[] = [];
  let more = 0;
  for await (const chunk of body) {
    const lines = decoder.decode(chunk as Uint8Array, { stream: true }).split("\n");
    more += (chunk as Uint8Array).byteLength;
    const rest = lines.pop() ?? "";
    for (const end of lines) {
      yield { line: [...open, end].join(""), more };
      open = [];
      more = 0;
    }
    open.push(rest);
    if (more > maxBytes) throw new HttpError({ kind: "tooLarge", maxBytes });
  }
}
