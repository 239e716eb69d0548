import { readFile } from "node:fs/promises";
import type { TokenizerFiles } from "./fetchTokenizer";
import { tokenType, type VocabularySpec } from "./vocabularySpec";

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

interface TokenizerJson {
  readonly added_tokens: readonly AddedToken[];
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (string | readonly [string, string])[];
  };
}

export interface BpeTokens {
  readonly tokens: readonly string[];
  readonly tokenTypes: readonly number[];
  readonly merges: readonly string[];
  readonly chatTemplate?: string;
}

/**
 * Tokens, types and merges of a byte-level BPE `tokenizer.json`, as llama.cpp's converter writes them: added tokens are
 * control (special, or of a form that looks so) or user-defined, gaps are unused.
 */
export async function readHuggingFaceBpe(files: TokenizerFiles): Promise<BpeTokens> {
  const json = JSON.parse(await readFile(files.tokenizer, "utf8")) as TokenizerJson;
  const config = JSON.parse(await readFile(files.config, "utf8")) as { chat_template?: unknown };
  const tokens: string[] = [];
  const tokenTypes: number[] = [];
  const put = (id: number, text: string, type: number): void => {
    tokens[id] = text;
    tokenTypes[id] = type;
  };
  for (const [text, id] of Object.entries(json.model.vocab)) put(id, text, tokenType.normal);
  for (const token of json.added_tokens) {
    const control = token.special || looksSpecial(token.content);
    put(token.id, token.content, control ? tokenType.control : tokenType.userDefined);
  }
  for (let id = 0; id < tokens.length; id++) {
    if (tokens[id] === undefined) put(id, `[PAD${id}]`, tokenType.unused);
  }
  const merges = json.model.merges.map((pair) => (typeof pair === "string" ? pair : pair.join(" ")));
  const template = config.chat_template;
  return { tokens, tokenTypes, merges, ...(typeof template === "string" ? { chatTemplate: template } : {}) };
}

/** The rule of llama.cpp's `convert_hf_to_gguf.py` (`does_token_look_special`). */
function looksSpecial(text: string): boolean {
  return /^<\|.*\|>$|^<｜.*｜>$/s.test(text) || ["<pad>", "<mask>", "<2mass>", "[@BOS@]"].includes(text);
}

/** The id of a token's text; throws where there is none. */
export function idOf(spec: Pick<VocabularySpec, "tokens">, text: string): number {
  const id = spec.tokens.lastIndexOf(text);
  if (id < 0) throw new Error(`no token ${text}`);
  return id;
}
