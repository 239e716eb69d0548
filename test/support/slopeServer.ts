import { forgedModel } from "./forge/forgeModel";
import { startLlamaServer, type LlamaServerProcess } from "./llamaCpp";

/**
 * A server whose prefill slows down visibly with depth: small batches for many points, one thread for a shared machine.
 */
export const startSlopeServer = async (): Promise<LlamaServerProcess> =>
  startLlamaServer({
    model: await forgedModel({ size: "slope", vocabulary: "qwen2_5" }),
    args: [
      ...["-c", "16384", "-np", "1", "-t", "1", "-tb", "1", "-b", "256", "-ub", "256"],
      // an answer may go on until its client has gone
      "--context-shift",
    ],
  });

export interface PromptTimings {
  readonly prompt_n: number;
  readonly prompt_ms: number;
  readonly cache_n: number;
}

/** Reads a cold prompt of so many tokens, as any client would. */
export async function prefill(url: string, tokens: number, seed: number): Promise<PromptTimings> {
  const prompt = Array.from({ length: tokens }, (_, i) => 1000 + ((i * 7919 + seed * 104729) % 50_000));
  const response = await fetch(`${url}/completion`, {
    method: "POST",
    body: JSON.stringify({ prompt, n_predict: 1, cache_prompt: false }),
    headers: { "content-type": "application/json" },
  });
  return ((await response.json()) as { timings: PromptTimings }).timings;
}
