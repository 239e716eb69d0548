import path from "node:path";
import { runInNewContext } from "node:vm";
import { build } from "esbuild";
import { repository } from "./repository";

export interface PublishedTemplate {
  /** Name and tag of a model that was published with it: `library/qwen3:0.6b`. */
  readonly model: string;
  /** Jinja, as it stands in the model's GGUF. */
  readonly source: string;
}

interface Entry {
  readonly model: string;
  readonly gguf: string;
}

/**
 * Chat templates of published GGUFs of every large family: the table by which @huggingface/ollama-utils recognizes them.
 * The package exports what uses the table, and not the table.
 */
export async function publishedTemplates(): Promise<readonly PublishedTemplate[]> {
  const table = path.join(repository, "node_modules/@huggingface/ollama-utils/src/chat-template-automap.ts");
  const { outputFiles } = await build({
    entryPoints: [table],
    write: false,
    format: "cjs",
    logLevel: "error",
  });
  const module: { exports: { readonly OLLAMA_CHAT_TEMPLATE_MAPPING?: readonly Entry[] } } = { exports: {} };
  runInNewContext(outputFiles[0]?.text ?? "", { module, exports: module.exports });
  const entries = module.exports.OLLAMA_CHAT_TEMPLATE_MAPPING ?? [];
  if (entries.length === 0) throw new Error(`no templates in ${table}`);
  return entries.map(({ model, gguf }) => ({ model, source: gguf }));
}
