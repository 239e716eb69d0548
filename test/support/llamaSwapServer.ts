import { sendJson, startHttpStub, type StubServer } from "./stubServer";

/** States of a model's process, as `/running` names them; a stopped one is not listed. */
export type SwapState = "starting" | "ready" | "stopping";

export interface LlamaSwapServer extends StubServer {
  /** Of the models whose processes are not stopped. */
  readonly states: Map<string, SwapState>;
  /** Models that a request would have started. */
  readonly loaded: readonly string[];
}

/**
 * Stands in for llama-swap, after its source (github.com/mostlygeek/llama-swap, internal/server/api.go and auth.go):
 * `/running` lists what is not stopped, `/v1/models` everything that is configured; `/upstream/NAME/…` goes to the model's
 * own llama-server, where a name may have slashes and the first that matches counts, and starts a model that does not
 * run; with API keys everything but `/health` wants one, as a bearer, and passes none on; other paths are Go's plain 404.
 */
export async function startLlamaSwap(
  models: Readonly<Record<string, string | undefined>>,
  apiKey?: string,
): Promise<LlamaSwapServer> {
  const states = new Map<string, SwapState>();
  const loaded: string[] = [];
  const stub = await startHttpStub(async ({ path, headers, json }, response) => {
    const known = path === "/running" || path === "/v1/models" || path.startsWith("/upstream/");
    if (known && apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`) {
      response.writeHead(401, {
        "content-type": "text/plain",
        "www-authenticate": 'Basic realm="llama-swap"',
      });
      response.end("unauthorized: invalid or missing API key");
    } else if (path === "/running") {
      const running = Array.from(states, ([model, state]) => ({
        ...{ model, state, cmd: "llama-server --port 5800", proxy: models[model] ?? "" },
        ...{ ttl: 0, name: "", description: "" },
      }));
      sendJson(response, { running: running.toSorted((a, b) => (a.model < b.model ? -1 : 1)) });
    } else if (path === "/v1/models") {
      const data = Object.keys(models).map((id) => ({
        id,
        object: "model",
        created: 1,
        owned_by: "llama-swap",
      }));
      sendJson(response, { object: "list", data });
    } else if (path === "/health") response.writeHead(200).end("OK");
    else if (path.startsWith("/upstream/")) {
      const found = modelIn(Object.keys(models), path.slice("/upstream/".length));
      if (found === undefined) response.writeHead(404).end("model not found");
      else if (found.rest === "/" && !path.endsWith("/")) {
        response.writeHead(json === undefined ? 301 : 308, { location: `${path}/` }).end();
      } else {
        const { model, rest } = found;
        if (states.get(model) !== "ready") loaded.push(model);
        const reply = await fetch(`${models[model] ?? ""}${rest}`, {
          ...(json !== undefined && {
            method: "POST",
            body: JSON.stringify(json),
            headers: { "content-type": "application/json" },
          }),
        });
        response.writeHead(reply.status, { "content-type": reply.headers.get("content-type") ?? "" });
        response.end(Buffer.from(await reply.arrayBuffer()));
      }
    } else {
      response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("404 page not found\n");
    }
  });
  return { ...stub, states, loaded };
}

/** Segments are added up until they are a model's name. */
function modelIn(
  models: readonly string[],
  path: string,
): { readonly model: string; readonly rest: string } | undefined {
  const parts = path.split("/");
  for (let length = 1; length <= parts.length; length++) {
    const model = parts.slice(0, length).map(decodeURIComponent).join("/");
    if (models.includes(model)) return { model, rest: `/${parts.slice(length).join("/")}` };
  }
  return undefined;
}
