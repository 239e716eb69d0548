import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Says that it is llama-server, and never answers a count: what a stuck server looks like. */
export interface SilentLlamaServer {
  readonly url: string;
  /** Counts asked for so far. */
  readonly asked: () => number;
  /** Counts whose caller still waits. */
  readonly waiting: () => number;
  /** Breaks every connection and listens no more. */
  readonly stop: () => Promise<void>;
}

const props = {
  default_generation_settings: { n_ctx: 4096 },
  total_slots: 1,
  model_path: "/nowhere/model.gguf",
  build_info: "b11669-test",
  chat_template: "",
};

export async function startSilentLlamaServer(): Promise<SilentLlamaServer> {
  let asked = 0;
  const waiting = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/tokenize") === true) {
      asked++;
      waiting.add(response);
      response.on("close", () => waiting.delete(response));
      return;
    }
    const bodies: readonly (readonly [string, unknown])[] = [
      ["/props", props],
      ["/slots", []],
      ["/v1/models", { data: [] }],
    ];
    const found = bodies.find(([path]) => request.url?.startsWith(path));
    response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found?.[1] ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    waiting: () => waiting.size,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
