import { execa } from "execa";
import { llamaProgram } from "./llamaCpp";
import { postJson } from "./postJson";

/** Token ids of bytes by `llama-tokenize`; it needs a vocabulary only. */
export async function idsByProgram(
  model: string,
  text: string | Uint8Array,
  options: { readonly parseSpecial: boolean; readonly addSpecial?: boolean },
): Promise<number[]> {
  const flags = [
    ...(options.parseSpecial ? [] : ["--no-parse-special"]),
    ...(options.addSpecial ? [] : ["--no-bos"]),
  ];
  const args = ["-m", model, "--stdin", "--no-escape", "--ids", "--log-disable", ...flags];
  const { stdout } = await execa(await llamaProgram("llama-tokenize"), args, {
    input: text,
    timeout: 120_000,
    maxBuffer: 2 ** 28,
  });
  const list = /\[[\d, ]*\]/.exec(stdout);
  if (!list) throw new Error(`llama-tokenize printed ${stdout.slice(0, 200)}`);
  return JSON.parse(list[0]) as number[];
}

/**
 * Token ids of many texts by a running llama-server: one request holds many texts with a token between them that none
 * of them has.
 */
export async function idsByServer(
  url: string,
  texts: readonly string[],
  options: { readonly parseSpecial: boolean; readonly separator: number },
): Promise<number[][]> {
  const all: number[][] = [];
  for (const batch of batches(texts)) {
    const content = batch.flatMap((text) => [options.separator, text]);
    const body = { content, add_special: false, parse_special: options.parseSpecial };
    // an idle connection may be closed just when it is used again
    const reply = await ask(url, body).catch(() => ask(url, body));
    const found = split((reply.body as { tokens: number[] }).tokens, options.separator);
    if (found.length !== batch.length) throw new Error("the separator is in a text");
    all.push(...found);
  }
  return all;
}

const ask = (url: string, body: object) => postJson(`${url}/tokenize`, body);

function* batches(texts: readonly string[]): Generator<readonly string[]> {
  let batch: string[] = [];
  let size = 0;
  for (const text of texts) {
    batch.push(text);
    size += text.length;
    if (batch.length < 2000 && size < 400_000) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}

function split(tokens: readonly number[], separator: number): number[][] {
  const parts: number[][] = [];
  for (const token of tokens) {
    if (token === separator) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}
