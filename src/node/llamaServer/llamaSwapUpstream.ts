import { chooseSwapModel, readSwapRunning } from "../../core/servers/llamaSwapRunning";
import { UserError } from "../../core/userError";
import { serverAddress } from "../../core/servers/serverAddress";
import { LlamaServerConnection } from "./llamaServerConnection";

const askSeconds = 5;

/**
 * Where llama-swap passes questions on to the running llama-server that is meant; undefined where the address is not
 * llama-swap's. @throws UserError where it is, but no model or several run
 */
export async function llamaSwapUpstream(
  options: { readonly url: string; readonly apiKey?: string; readonly model?: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const url = serverAddress(options.url);
  const connection = new LlamaServerConnection(url, options.apiKey);
  let body: unknown;
  try {
    const reply = await connection.reply({ path: "/running", timeoutSeconds: askSeconds }, signal);
    // it asks for a key only where it has something to tell: /props it does not know at all
    if (reply.status === 401) throw connection.failed(reply, "/running");
    if (reply.status !== 200) return undefined;
    body = reply.body;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UserError && error.reason !== "unauthorized") return undefined;
    throw error;
  }
  const running = readSwapRunning(body);
  if (running === undefined) return undefined;
  const { id } = chooseSwapModel(url, running, options.model);
  // names may have slashes, which llama-swap takes as they are
  return `${url}/upstream/${id.split("/").map(encodeURIComponent).join("/")}`;
}
