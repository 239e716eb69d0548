import type { IncomingMessage } from "node:http";
import { HttpError, failureOf, open, receive, type HttpReply, type HttpRequest } from "./httpJson";

export type ServerEvent = Readonly<Record<string, unknown>>;

/** A reply that is no success, in place of a stream. */
export class HttpRefusal extends Error {
  override readonly name = "HttpRefusal";

  constructor(readonly reply: HttpReply) {
    super(`status ${String(reply.status)}`);
  }
}

const maxEventBytes = 1_000_000;
const maxRefusalBytes = 100_000;

/**
 * One POST that is answered with server-sent events. An abort, or who reads no further, closes the stream, which makes
 * llama-server stop. Not `fetch`: it gives up after five silent minutes, which one batch of a slow machine can take. The
 * connection is new: one from before may just be closing (llama-server ends idle ones after 5 s).
 * @throws HttpError, HttpRefusal, or the signal's reason
 */
export async function* exchangeEvents(
  request: Pick<HttpRequest, "url" | "body" | "bearer">,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  signal.throwIfAborted();
  const outgoing = open({ ...request, method: "POST" }, "own");
  const stop = (): unknown => outgoing.destroy(new Error("aborted"));
  signal.addEventListener("abort", stop, { once: true });
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on("response", resolve).on("error", reject).end(JSON.stringify(request.body));
    });
    if (response.statusCode !== 200) throw new HttpRefusal(await replyOf(response));
    yield* eventsOf(response);
  } catch (cause) {
    signal.throwIfAborted();
    throw cause instanceof Error && "code" in cause ? new HttpError(failureOf(cause)) : cause;
  } finally {
    signal.removeEventListener("abort", stop);
    outgoing.destroy();
  }
}

function replyOf(response: IncomingMessage): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    receive(response, { maxBytes: maxRefusalBytes }, resolve, (failure) => reject(new HttpError(failure)));
  });
}

/** The JSON of every `data:` line; comments and `[DONE]` are passed over. */
async function* eventsOf(body: AsyncIterable<unknown>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk as Uint8Array, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxEventBytes) throw new HttpError({ kind: "tooLarge", maxBytes: maxEventBytes });
    for (const line of lines) {
      const match = /^data:\s*(\{.*\})\s*$/.exec(line);
      if (match === null) continue;
      try {
        yield JSON.parse(match[1] ?? "") as ServerEvent;
      } catch {
        // a torn event says nothing
      }
    }
  }
}
