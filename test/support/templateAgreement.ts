import { templateProbe } from "../../src/core/acceptance/chatTemplate";
import { templateVariables } from "../../src/core/acceptance/templateSource";
import { parseArguments } from "../../src/core/launch/commandLine";
import type { GgufTokenizer } from "../../src/node/tokenizer/ggufTokenizer";
import type { TemplateRenderer } from "../../src/node/template/templateRenderer";
import { UserError } from "../../src/core/userError";
import { startLlamaServer } from "./llamaCpp";
import { postJson } from "./postJson";

/**
 * exact: the prompt llama-server makes; wrong: another one; refused: we say that we cannot, and llama-server can;
 * bothRefuse: llama-server does not start with it or answers an error.
 */
export type TemplateAgreement = "exact" | "wrong" | "refused" | "bothRefuse" | "onlyOurs";

const signal = new AbortController().signal;

export interface TemplateSetup {
  readonly model: string;
  readonly tokenizer: GgufTokenizer;
  readonly renderer: TemplateRenderer;
}

/** Our prompt of one user message and that of a real llama-server which was started with the template's file. */
export async function templateAgreement(
  { model, tokenizer, renderer }: TemplateSetup,
  source: string,
  file: string,
  args: readonly string[] = [],
): Promise<{ readonly agreement: TemplateAgreement; readonly ours?: string; readonly theirs?: string }> {
  const theirs = await serverPrompt(model, ["--chat-template-file", file, ...args]);
  const variables = templateVariables(parseArguments(args).options);
  const job = { source, ends: tokenizer.ends, variables, message: templateProbe };
  const ours = await renderer.render(job, signal).catch((error: unknown) => {
    if (error instanceof UserError) return undefined;
    throw error;
  });
  const agreement =
    theirs === undefined
      ? ours === undefined
        ? "bothRefuse"
        : "onlyOurs"
      : ours === undefined
        ? "refused"
        : ours === theirs
          ? "exact"
          : "wrong";
  return { agreement, ...(ours !== undefined && { ours }), ...(theirs !== undefined && { theirs }) };
}

/** Undefined where it does not start or answers an error. */
async function serverPrompt(model: string, args: readonly string[]): Promise<string | undefined> {
  const small = ["-c", "256", "-np", "1", "-t", "1", "--no-warmup"];
  const server = await startLlamaServer({ model, args: [...small, ...args] }).catch(() => undefined);
  if (server === undefined) return undefined;
  try {
    const messages = [{ role: "user", content: templateProbe }];
    const reply = await postJson(`${server.url}/apply-template`, { messages });
    return reply.status === 200 ? (reply.body as { prompt: string }).prompt : undefined;
  } finally {
    await server.stop();
  }
}
