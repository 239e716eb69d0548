import type { ServerActivity } from "../../core/bench/serverActivity";
import { readMetrics } from "../../core/bench/serverMetrics";
import { readSlotProgress } from "../../core/bench/slotProgress";
import { serverAddress } from "../../core/servers/serverAddress";
import { exchangeJson, HttpError } from "./httpJson";

export interface ActivityRequest {
  readonly url: string;
  readonly apiKey?: string;
  /** Which of a router's models. */
  readonly model?: string;
  /** Whether `/metrics` is asked, too. */
  readonly counters: boolean;
}

/** `/slots` is answered between two batches, which may take a while. */
const lookSeconds = 20;
const maxBytes = 4 * 2 ** 20;

/** One look at a server that somebody else may be using; nothing is loaded, woken or changed by it. Fails only when aborted. */
export async function readServerActivity(
  request: ActivityRequest,
  signal: AbortSignal,
): Promise<ServerActivity> {
  const query =
    request.model === undefined ? "" : `?model=${encodeURIComponent(request.model)}&autoload=false`;
  const slots = readSlotProgress(await ask(request, `/slots${query}`, false, signal));
  const at = performance.now() / 1000;
  const metrics = request.counters ? await ask(request, `/metrics${query}`, true, signal) : undefined;
  const counters = typeof metrics === "string" ? readMetrics(metrics) : undefined;
  return { at, ...(slots !== undefined && { slots }), ...(counters !== undefined && { counters }) };
}

/** undefined where there is no answer, or none that says anything. */
async function ask(
  { url, apiKey }: ActivityRequest,
  path: string,
  text: boolean,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const reply = await exchangeJson(
      {
        url: serverAddress(url) + path,
        timeoutSeconds: lookSeconds,
        maxBytes,
        ...(apiKey !== undefined && { bearer: apiKey }),
        ...(text && { text }),
      },
      signal,
    );
    return reply.status === 200 ? reply.body : undefined;
  } catch (cause) {
    if (cause instanceof HttpError) return undefined;
    throw cause;
  }
}
