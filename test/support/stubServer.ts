import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A server of the test's own making on a free loopback port. */
export interface StubServer {
  readonly url: string;
  readonly port: number;
  /** Connections that are open now. */
  openSockets(): number;
  close(): Promise<void>;
}

export interface StubRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The body as JSON; undefined where there is none. */
  readonly json: unknown;
}

export type Answer = (request: StubRequest, response: ServerResponse) => unknown;

/** Speaks HTTP: `answer` gets each whole request. */
export async function startHttpStub(answer: Answer): Promise<StubServer> {
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const json: unknown = text === "" ? undefined : JSON.parse(text);
      void Promise.resolve(
        answer({ path: request.url ?? "", headers: request.headers, text, json }, response),
      );
    });
  });
  // short enough that clients keep no idle connection, which would look like one left open
  server.keepAliveTimeout = 500;
  return listen(server);
}

/** Speaks whatever `talk` says. */
export function startTcpStub(talk: (socket: Socket) => void): Promise<StubServer> {
  return listen(
    createTcpServer((socket) => {
      socket.resume();
      talk(socket);
    }),
  );
}

async function listen(server: Server): Promise<StubServer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    openSockets: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body));
}

/** What a real llama-server b11669 answers (shortened). */
export const goodReplies = {
  "/props": {
    default_generation_settings: { params: {}, n_ctx: 4096 },
    total_slots: 1,
    model_alias: "model.gguf",
    model_path: "/models/model.gguf",
    modalities: { vision: false, audio: false },
    build_info: "b11669-Debian",
    is_sleeping: false,
  },
  "/slots": [{ id: 0, n_ctx: 4096, speculative: false, is_processing: false }],
  "/v1/models": {
    object: "list",
    data: [
      {
        id: "model.gguf",
        aliases: [],
        meta: { n_ctx: 4096, n_ctx_train: 32_768, n_params: 9_780_736, size: 10_393_348 },
      },
    ],
  },
} as const;

/** Answers like `goodReplies`, with some endpoints replaced. */
export function goodAnswer(replaced: Readonly<Record<string, Answer>> = {}): Answer {
  return (request, response) => {
    const endpoint = request.path.replace(/\?.*/, "");
    const own = replaced[endpoint];
    if (own !== undefined) return own(request, response);
    const body = (goodReplies as Readonly<Record<string, unknown>>)[endpoint];
    if (body !== undefined) sendJson(response, body);
    else
      sendJson(response, { error: { code: 404, message: "File Not Found", type: "not_found_error" } }, 404);
  };
}
