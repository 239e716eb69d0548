import path from "node:path";
import { openGgufTokenizer, type GgufTokenizer } from "../node/tokenizer/ggufTokenizer";
import { cacheFolder } from "./kept";

/** Opens the vocabulary of a GGUF; what is compiled once is kept in the user's cache folder. */
export function openVocabulary(model: string, signal: AbortSignal): Promise<GgufTokenizer> {
  return openGgufTokenizer(model, { signal, cacheDir: path.join(cacheFolder(), "vocabularies") });
}
