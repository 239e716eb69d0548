import path from "node:path";
import { str, type GgufMetadata } from "./forge/ggufValue";
import { writeGguf } from "./forge/writeGguf";
import { vocabularyMetadata, type VocabularySpec } from "./vocabularies/vocabularySpec";

/** Writes a GGUF that has a vocabulary and nothing else: enough for `llama-tokenize`. */
export async function writeVocabularyModel(
  folder: string,
  spec: VocabularySpec,
  more: GgufMetadata = new Map(),
): Promise<string> {
  const file = path.join(folder, `${spec.name}.gguf`);
  const metadata: GgufMetadata = new Map([
    ["general.architecture", str("llama")],
    ...vocabularyMetadata(spec),
    ...more,
  ]);
  await writeGguf(file, { metadata, tensors: [] });
  return file;
}
