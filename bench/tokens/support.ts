import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { str, type GgufMetadata } from "../../test/support/forge/ggufValue";
import { writeGguf } from "../../test/support/forge/writeGguf";
import { cacheFolder } from "../../test/support/cacheFolder";
import { repository } from "../../test/support/repository";
import { SeededRandom } from "../../test/support/seededRandom";
import { vocabulary, type VocabularyName } from "../../test/support/vocabularies/vocabulary";
import { vocabularyMetadata } from "../../test/support/vocabularies/vocabularySpec";

export { openGgufTokenizer } from "../../src/node/tokenizer/ggufTokenizer";
export { llamaProgram, runLlamaProgram, startLlamaServer } from "../../test/support/llamaCpp";
export { forgedModel } from "../../test/support/forge/forgeModel";
export { cacheFolder } from "../../test/support/cacheFolder";
export { repository } from "../../test/support/repository";
export { nastyStrings, knownTexts } from "../../test/support/nastyTexts";
export { idsByServer } from "../../test/support/tokenOracle";
export { differences, kernelOf } from "../../test/support/kernelOf";
export { mixedCorpus } from "../../test/support/corpus";
export { workspaceJob } from "./workspaceJob";
export { vocabulary } from "../../test/support/vocabularies/vocabulary";

/** A GGUF with a real vocabulary and nothing else. */
export async function vocabularyModel(name: VocabularyName): Promise<string> {
  const spec = await vocabulary(name);
  const key = createHash("sha256").update(spec.version).digest("hex").slice(0, 8);
  const file = cacheFolder("bench", `${name}-${key}.gguf`);
  if (!existsSync(file)) {
    mkdirSync(path.dirname(file), { recursive: true });
    const metadata: GgufMetadata = new Map([
      ["general.architecture", str("llama")],
      ...vocabularyMetadata(spec),
    ]);
    await writeGguf(file, { metadata, tensors: [] });
  }
  return file;
}

const kinds = /\.(?:ts|tsx|js|mjs|cjs|json|md|css|html|txt|map|py|c|h|go|rs|ya?ml)$/;

/** Text files of the installed packages in an order drawn once, at least `bytes` together. */
export function corpusFiles(bytes: number): string[] {
  const root = path.join(repository, "node_modules");
  const names = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => kinds.test(name))
    .toSorted();
  const random = new SeededRandom(7);
  for (let i = names.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [names[i], names[j]] = [names[j] ?? "", names[i] ?? ""];
  }
  const chosen: string[] = [];
  let total = 0;
  for (const name of names) {
    const file = path.join(root, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat?.isFile() || stat.size > 400_000 || stat.size === 0 || !isUtf8(file)) continue;
    chosen.push(file);
    total += stat.size;
    if (total >= bytes) break;
  }
  return chosen;
}

function isUtf8(file: string): boolean {
  try {
    return !new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file)).includes("\u0000");
  } catch {
    return false;
  }
}

/** Hugging Face's `tokenizer.json` a vocabulary was made from. */
export function tokenizerJson(name: VocabularyName): string {
  const folder = cacheFolder("vocabularies");
  const found = readdirSync(folder).find((each) => each.startsWith(`tokenizer-${name}-`));
  if (found === undefined) throw new Error(`${name} was not fetched`);
  return path.join(folder, found, "tokenizer.json");
}
