import { readFileSync } from "node:fs";
import path from "node:path";
import { modelOf } from "../../src/core/model/modelOf";
import { promptKeeping, type PromptKeeping } from "../../src/core/prefill/secondQuestion";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { LlamaServerConnection } from "../../src/node/llamaServer/llamaServerConnection";
import { streamCompletion } from "../../src/node/llamaServer/serverProbeStream";
import { startLlamaServer, type LlamaServerProcess } from "../../test/support/llamaCpp";
import { postJson } from "../../test/support/postJson";
import { realModel, type RealModelName } from "../../test/support/realModels";
import { repository } from "../../test/support/repository";

export const signal = new AbortController().signal;

export const modelNames = { chat: "SmolLM2 135M", window: "Gemma 3 270M" } as const;

export interface RealSetup {
  readonly file: string;
  readonly keeping: PromptKeeping;
}

/** The model and how a server with these options keeps a prompt. */
export async function realSetup(name: RealModelName): Promise<RealSetup> {
  const { file, real } = await realModel(name);
  if (!real) throw new Error("The real models cannot be had here, and random weights would tell nothing.");
  return { file, keeping: promptKeeping(modelOf(await readGgufHeader(file, signal)), {}) };
}

/** LLAMA_GAUGE_BENCH_THREADS: on a machine that others use, llama.cpp's threads wait for each other. */
const wanted = process.env["LLAMA_GAUGE_BENCH_THREADS"];
const threads = wanted === undefined ? [] : ["-t", wanted, "-tb", wanted];

export const startReal = (
  { file }: RealSetup,
  context: number,
  args: readonly string[] = [],
): Promise<LlamaServerProcess> =>
  startLlamaServer({
    model: file,
    args: ["-c", String(context), "-np", "1", "--no-warmup", ...threads, ...args],
  });

/** Tokens of real text: this project's own documents, as often as it takes; `salt` makes it new to every cache. */
export async function realTokens(
  { url }: LlamaServerProcess,
  wanted: number,
  salt: string,
): Promise<readonly number[]> {
  const files = [
    "docs/ladder.md",
    "docs/commands.md",
    "docs/settings.md",
    "docs/memory.md",
    "docs/servers.md",
  ];
  const text = files.map((file) => readFileSync(path.join(repository, file), "utf8")).join("\n");
  const content = `${salt} ${text.repeat(Math.ceil((wanted * 6) / text.length))}`;
  const { body } = await postJson(`${url}/tokenize`, { content, add_special: true });
  const { tokens } = body as { readonly tokens: readonly number[] };
  if (tokens.length < wanted) throw new Error(`${tokens.length} tokens of text, ${wanted} are needed`);
  return tokens.slice(0, wanted);
}

export type Reading = Awaited<ReturnType<typeof streamCompletion>>;

/** One prompt, really read; the answer is one token long unless more are asked for. */
export const read = (
  { url }: LlamaServerProcess,
  prompt: readonly number[],
  options: { readonly cache?: boolean; readonly generatedTokens?: number } = {},
): Promise<Reading> =>
  streamCompletion(
    new LlamaServerConnection(url),
    { prompt, generatedTokens: 1, timeoutSeconds: 3600, ...options },
    signal,
  );

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((p, q) => p - q);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  return low + ((sorted[Math.ceil(at)] ?? low) - low) * (at % 1);
}
