import { errorOfExchange, errorOfReply, readReply, type Doing } from "./llamaServerErrors";
import { exchangeEvents, HttpRefusal, type ServerEvent, type StreamLimits } from "./httpEvents";
import { exchangeJson, type HttpReply } from "./httpJson";

const MiB = 2 ** 20;

export interface Call {
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutSeconds: number;
  readonly maxBytes?: number;
  readonly doing?: Doing;
}

/** One llama-server's address and key; turns whatever goes wrong into one `UserError`. */
export class LlamaServerConnection {
  readonly #key: string | undefined;

  constructor(
    readonly url: string,
    apiKey?: string,
  ) {
    this.#key = apiKey;
  }

  /** The reply whatever its status. */
  async reply(call: Call, signal: AbortSignal): Promise<HttpReply> {
    try {
      return await exchangeJson(
        {
          url: this.url + call.path,
          timeoutSeconds: call.timeoutSeconds,
          maxBytes: call.maxBytes ?? 4 * MiB,
          ...(call.body !== undefined && { method: "POST" as const, body: call.body }),
          ...(this.#key !== undefined && { bearer: this.#key }),
        },
        signal,
      );
    } catch (cause) {
      throw errorOfExchange(cause, this.url, call.doing ?? "asking");
    }
  }

  /** What `read` makes of a successful reply. */
  async ask<T>(call: Call, read: (body: unknown) => T, signal: AbortSignal): Promise<T> {
    const reply = await this.reply(call, signal);
    if (reply.status !== 200) throw this.failed(reply, call.path);
    return readReply(this.url, reply.body, read);
  }

  /** What a streamed answer brings, event by event; an abort, or who reads no further, makes the server stop. */
  async *stream(
    path: string,
    body: unknown,
    limits: StreamLimits,
    signal: AbortSignal,
  ): AsyncGenerator<ServerEvent> {
    const bearer = this.#key === undefined ? {} : { bearer: this.#key };
    try {
      for await (const event of exchangeEvents({ url: this.url + path, body, limits, ...bearer }, signal)) {
        if (event["error"] !== undefined) throw this.failed({ status: 500, body: event }, path);
        yield event;
      }
    } catch (cause) {
      if (cause instanceof HttpRefusal) throw this.failed(cause.reply, path);
      throw errorOfExchange(cause, this.url, "streaming");
    }
  }

  failed(reply: HttpReply, path: string): Error {
    return errorOfReply(reply, this.url, path.replace(/\?.*/, ""), this.#key);
  }
}
