import { readSwapRunning } from "../../core/servers/llamaSwapRunning";
import { UserError } from "../../core/userError";
import { HttpLlamaServer } from "./llamaServer";
import { LlamaServerConnection } from "./llamaServerConnection";

/** The models behind an address that serves several: a router's, or llama-swap's. Empty for every other. */
export async function offeredModels(
  options: { readonly url: string; readonly apiKey?: string },
  signal: AbortSignal,
): Promise<readonly { readonly id: string; readonly loaded: boolean }[]> {
  try {
    const server = new HttpLlamaServer(options);
    const models = await server.models(signal);
    const ofRouter = models.filter(({ status }) => status !== undefined);
    if (ofRouter.length > 0) {
      return ofRouter.map(({ id, status }) => ({ id, loaded: status === "loaded" || status === "sleeping" }));
    }
    const connection = new LlamaServerConnection(server.url, options.apiKey);
    const reply = await connection.reply({ path: "/running", timeoutSeconds: 5 }, signal);
    const running = reply.status === 200 ? readSwapRunning(reply.body) : undefined;
    if (running === undefined) return [];
    const ready = new Set(running.flatMap(({ id, state }) => (state === "ready" ? [id] : [])));
    return models.map(({ id }) => ({ id, loaded: ready.has(id) }));
  } catch (error) {
    signal.throwIfAborted();
    // what does not answer is told when it is estimated with
    if (error instanceof UserError) return [];
    throw error;
  }
}
