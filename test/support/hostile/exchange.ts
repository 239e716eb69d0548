import { createServer, type AddressInfo, type Socket } from "node:net";
import { goodReplies } from "../stubServer";

/** What a well-behaved llama-server answers, before a mode spoils it. */
export type Good =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "events"; readonly values: readonly unknown[] }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "file"; readonly bytes: Buffer; readonly from: number; readonly total: number };

/** One request, and the bare connection to answer it on. */
export interface Exchange {
  readonly endpoint: string;
  readonly good: Good;
  /** The client has hung up. */
  readonly gone: () => boolean;
  /** Writes what the connection takes; waits while it is full. */
  readonly write: (bytes: string | Buffer) => Promise<void>;
  readonly end: () => void;
  readonly reset: () => void;
  readonly pause: (milliseconds: number) => Promise<void>;
}

export type Mode = (exchange: Exchange) => void | Promise<void>;

export interface ModeServer {
  /** The address under which `endpoint` (or every endpoint) misbehaves in that way. */
  url(mode: string, endpoint: string): string;
  /** The most that was sent to one request. */
  readonly mostSentBytes: number;
  close(): Promise<void>;
}

// not the test's own, which may be hurried
const { setTimeout: later } = globalThis;

/** One server for all modes, told apart by the first part of the path; `file` is what it offers for download. */
export async function startModeServer(modes: ReadonlyMap<string, Mode>, file: Buffer): Promise<ModeServer> {
  const sockets = new Set<Socket>();
  let most = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    let received = Buffer.alloc(0);
    let answered = false;
    socket.on("data", (chunk: Buffer) => {
      if (answered) return;
      received = Buffer.concat([received, chunk]);
      const request = whole(received);
      if (request === undefined) return;
      answered = true;
      const [, mode = "", target = "", endpoint = ""] =
        /^\/([^/]*)\/([^/]*)(\/[^?]*)/.exec(request.path) ?? [];
      const spoil =
        target === "all" || endpoint === `/${target}` ? modes.get(decodeURIComponent(mode)) : sendGood;
      let sent = 0;
      const exchange: Exchange = {
        endpoint,
        good: goodOf(endpoint, request, file),
        gone: () => socket.destroyed,
        write: (bytes) =>
          new Promise((resolve) => {
            if (socket.destroyed) {
              resolve();
              return;
            }
            sent += bytes.length;
            most = Math.max(most, sent);
            const full = !socket.write(bytes);
            if (!full) {
              resolve();
              return;
            }
            const go = (): void => {
              socket.off("drain", go).off("close", go);
              resolve();
            };
            socket.once("drain", go).once("close", go);
          }),
        end: () => socket.end(),
        reset: () => socket.resetAndDestroy(),
        pause: (milliseconds) => new Promise((resolve) => later(resolve, milliseconds)),
      };
      void Promise.resolve((spoil ?? sendGood)(exchange));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (mode, endpoint) =>
      `http://127.0.0.1:${port}/${encodeURIComponent(mode)}/${endpoint.replace(/^\//, "")}`,
    get mostSentBytes() {
      return most;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Request {
  readonly path: string;
  readonly head: string;
  readonly body: string;
}

function whole(bytes: Buffer): Request | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  const chunked = /^transfer-encoding: *chunked/im.test(head);
  if (chunked ? !bytes.subarray(end).includes("\r\n0\r\n\r\n") : bytes.length < end + 4 + length)
    return undefined;
  const text = bytes.toString("utf8", end + 4);
  return {
    path: head.split(" ", 2)[1] ?? "",
    head,
    body: chunked ? text.replace(/^[\da-f]+\r\n|\r\n0\r\n\r\n$/gi, "") : text,
  };
}

function goodOf(endpoint: string, { head, body }: Request, file: Buffer): Good {
  const sent = (): unknown => JSON.parse(body);
  switch (endpoint) {
    case "/tokenize": {
      const { content } = sent() as { content: string | readonly (string | number)[] };
      const of = (part: string | number): readonly number[] =>
        typeof part === "number" ? [part] : part.split(/\s+/).map((_, i) => i);
      return {
        kind: "json",
        value: { tokens: typeof content === "string" ? of(content) : content.flatMap(of) },
      };
    }
    case "/apply-template": {
      const { messages } = sent() as { messages: readonly { content: string }[] };
      return { kind: "json", value: { prompt: `<s>${messages.map(({ content }) => content).join("")}</s>` } };
    }
    case "/completion":
      return { kind: "events", values: completion((sent() as { prompt: readonly number[] }).prompt.length) };
    case "/metrics":
      return {
        kind: "text",
        text: "# TYPE\nllamacpp:prompt_tokens_total 10\nllamacpp:prompt_seconds_total 0.5\nllamacpp:requests_processing 0\n",
      };
    case "/running":
      return { kind: "json", value: { running: [{ model: "one", state: "ready" }] } };
    case "/model.gguf": {
      const [, from = "0", to = ""] = /^range: *bytes=(\d+)-(\d*)/im.exec(head) ?? [];
      return {
        kind: "file",
        bytes: file.subarray(Number(from), Number(to) + 1),
        from: Number(from),
        total: file.length,
      };
    }
    default:
      return {
        kind: "json",
        value: (goodReplies as Readonly<Record<string, unknown>>)[endpoint] ?? { status: "ok" },
      };
  }
}

/** As build 11669 streams it. */
function completion(tokens: number): readonly unknown[] {
  const step = (processed: number): unknown => ({
    prompt_progress: { total: tokens, cache: 0, processed, time_ms: processed },
  });
  return [
    step(Math.floor(tokens / 2)),
    step(tokens),
    { content: "one", tokens: [1], completion_probabilities: [{ id: 1, logprob: -0.5 }] },
    {
      content: "",
      stop: true,
      stop_type: "limit",
      truncated: false,
      timings: { cache_n: 0, prompt_n: tokens, prompt_ms: tokens, predicted_n: 16, predicted_ms: 160 },
    },
  ];
}

/** The body as llama-server would write it. */
export function bodyOf(good: Good): Buffer {
  switch (good.kind) {
    case "json":
      return Buffer.from(JSON.stringify(good.value));
    case "events":
      return Buffer.from(good.values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(""));
    case "text":
      return Buffer.from(good.text);
    case "file":
      return good.bytes;
  }
}

/** Status line and headers that go with the body. */
export function headOf(good: Good, status = good.kind === "file" ? 206 : 200): string {
  const type = {
    json: "application/json",
    events: "text/event-stream",
    text: "text/plain",
    file: "application/octet-stream",
  };
  const range =
    good.kind === "file"
      ? `content-range: bytes ${good.from}-${good.from + good.bytes.length - 1}/${good.total}\r\n`
      : "";
  return `HTTP/1.1 ${status} Any\r\ncontent-type: ${type[good.kind]}\r\nconnection: close\r\n${range}`;
}

export const sendGood: Mode = async ({ good, write, end }) => {
  const body = bodyOf(good);
  await write(`${headOf(good)}content-length: ${body.length}\r\n\r\n`);
  await write(body);
  end();
};
