import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { tensorBytes } from "../../../src/core/model/ggmlTypes";
import type { MetadataValue } from "../../../src/core/model/ggufHeader";
import { writeSparseModel } from "../../integration/memory/sparseModel";
import { denseModel } from "./denseModel";
import { draftModel } from "./draftModel";
import { projectorModel } from "./projectorModel";
import { recallModel } from "./recallModel";
import { recallVocabulary } from "./recallVocabulary";
import { slidingWindowModel } from "./slidingWindowModel";
import { writeGguf, type GgufFile } from "./writeGguf";
import { startLlamaServer, type LlamaServerProcess } from "../llamaCpp";
import { repository } from "../repository";
import { bytePairs } from "../vocabularies/sensitiveVocabularies";
import { rwkv, sentencePiece, unigram, wordPiece } from "../vocabularies/smallVocabularies";
import { vocabularyMetadata } from "../vocabularies/vocabularySpec";

interface HeadersFile {
  readonly models: Readonly<
    Record<
      string,
      {
        readonly fileBytes: number;
        readonly vocabularySize?: number;
        readonly metadata: Readonly<Record<string, MetadataValue>>;
        readonly tensors: readonly (readonly [name: string, type: number, ...shape: number[]])[];
      }
    >
  >;
}

/** Headers of real sizes; the files take no room on the disk. */
async function writeRealSizes(folder: string): Promise<readonly string[]> {
  const file = path.join(repository, "test/fixtures/memory/headers.json.gz");
  const { models } = JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")) as HeadersFile;
  for (const [name, { metadata, tensors, fileBytes, vocabularySize }] of Object.entries(models)) {
    await writeSparseModel(path.join(folder, name), {
      locator: name,
      metadata: new Map(Object.entries(metadata)),
      tensors: tensors.map(([tensor, type, ...shape]) => ({
        name: tensor,
        type,
        shape,
        bytes: tensorBytes(type, shape) ?? 0,
      })),
      fileBytes,
      ...(vocabularySize !== undefined && { vocabularySize }),
    });
  }
  return Object.keys(models);
}

const size = { layers: 4, embedding: 512, heads: 8, kvHeads: 2, headSize: 64, feedForward: 1024 };
const vision = { layers: 4, embedding: 256, heads: 4, feedForward: 512, image: 224, patch: 14, text: 512 };

/** Small models with everything in them but meaning; what they are for is their name. */
function smallModels(): Readonly<Record<string, GgufFile>> {
  const words = recallVocabulary();
  const vocabularyOnly = (metadata: GgufFile["metadata"]): GgufFile => ({ metadata, tensors: [] });
  return {
    "served.gguf": recallModel({ window: 1000, contextLength: 32_768 }),
    "dense.gguf": denseModel("qwen3", size, 32_768, words),
    "sliding.gguf": slidingWindowModel(size, 32_768, words),
    "eagle.gguf": draftModel("eagle3", { ...size, target: 512, layers: 1 }, words),
    "mmproj.gguf": projectorModel("qwen2.5vl_merger", vision),
    "bytePairs.gguf": vocabularyOnly(
      new Map([...recallModel({ window: 1 }).metadata, ...vocabularyMetadata(bytePairs("qwen2"))]),
    ),
    "sentencePiece.gguf": vocabularyOnly(sentencePiece({ addSpacePrefix: true })),
    "wordPiece.gguf": vocabularyOnly(wordPiece({ lowercase: true })),
    "unigram.gguf": vocabularyOnly(
      unigram({ addSpacePrefix: true, removeExtraWhitespaces: true, characterMap: true }),
    ),
    "rwkv.gguf": vocabularyOnly(rwkv()),
  };
}

/** Writes the models the golden cases are about. @returns the names of those of real sizes */
export async function writeGoldenModels(folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  for (const [name, model] of Object.entries(smallModels())) {
    // dense.gguf and the like are only budgeted
    const weights = name === "served.gguf" ? "random" : "sparse";
    await writeGguf(path.join(folder, name), model, { weights });
  }
  return writeRealSizes(folder);
}

/** The server the cases with `--server` ask. */
export function startGoldenServer(folder: string): Promise<LlamaServerProcess> {
  const args = ["-c", "12288", "-np", "1", "--slots", "--props"];
  return startLlamaServer({ model: path.join(folder, "served.gguf"), args });
}
