import {
  goodAnswer,
  goodReplies,
  sendJson,
  startHttpStub,
  type StubRequest,
  type StubServer,
} from "./stubServer";

export interface HostileServer extends StubServer {
  /** What it does with texts to count: a token for every fourth character, its own words, or no answer at all. */
  tokenize: "count" | "refuse" | "wait";
}

/** Speaks like llama-server, and everything that it may name is `words`. */
export async function startHostileServer(words: string): Promise<HostileServer> {
  const name = `${words}.gguf`;
  const models = ["first", "second"].map((id) => ({
    id: `${id} ${words}`,
    meta: goodReplies["/v1/models"].data[0].meta,
    status: { value: "loaded" },
  }));
  const stub = await startHttpStub(
    goodAnswer({
      "/props": (_, response) =>
        sendJson(response, {
          ...goodReplies["/props"],
          model_alias: name,
          model_path: `/models/${name}`,
          build_info: words,
          chat_template: "",
        }),
      "/v1/models": (_, response) => sendJson(response, { object: "list", data: models }),
      "/tokenize": (request, response) => {
        if (server.tokenize === "wait") return;
        if (server.tokenize === "count") {
          sendJson(response, { tokens: tokensOf(request) });
          return;
        }
        const error = { code: 400, message: words, type: "invalid_request_error" };
        sendJson(response, { error }, 400);
      },
    }),
  );
  const server: HostileServer = Object.assign(stub, { tokenize: "count" as const });
  return server;
}

function tokensOf({ json }: StubRequest): readonly number[] {
  const { content } = json as { readonly content: string };
  return Array.from({ length: Math.ceil(content.length / 4) }, (_, i) => i);
}
