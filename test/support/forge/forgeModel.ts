import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { cacheFolder } from "../cacheFolder";
import { vocabulary, vocabularyVersion, type VocabularyName } from "../vocabularies/vocabulary";
import type { VocabularySpec } from "../vocabularies/vocabularySpec";
import { denseModel, type DenseArchitecture } from "./denseModel";
import { hybridModel } from "./hybridModel";
import { dimensions, type ModelSize } from "./sizes";
import { slidingWindowModel } from "./slidingWindowModel";
import { writeGguf, type GgufFile, type WriteOptions } from "./writeGguf";

/** Dense, with a sliding window (iSWA), or hybrid (recurrent and attention layers, experts). */
export type ForgedArchitecture = DenseArchitecture | "gemma3" | "qwen35moe";

export interface ForgeOptions {
  readonly architecture?: ForgedArchitecture;
  readonly size?: ModelSize;
  readonly vocabulary?: VocabularyName;
  readonly contextLength?: number;
  readonly seed?: number;
}

/** Raised when the forge writes other bytes for the same options. */
const forgeVersion = 1;

/** Writes a model with random weights that llama.cpp loads and runs; sparse ones have the header and no weights. */
export async function forgeModel(
  file: string,
  options: ForgeOptions = {},
  weights: WriteOptions["weights"] = "random",
): Promise<void> {
  const all = withDefaults(options);
  await writeGguf(file, modelOf(all, await vocabulary(all.vocabulary)), { seed: all.seed, weights });
}

/** What `forgeModel` would write. */
export function modelOf(options: ForgeOptions, spec: VocabularySpec): GgufFile {
  const { architecture, size, contextLength } = withDefaults(options);
  switch (architecture) {
    case "gemma3":
      return slidingWindowModel(dimensions[size], contextLength, spec);
    case "qwen35moe":
      return hybridModel(dimensions[size], contextLength, spec);
    default:
      return denseModel(architecture, dimensions[size], contextLength, spec);
  }
}

/** A Qwen3 model with the real Qwen2.5 vocabulary and chat template. */
export function forgeQwenModel(
  file: string,
  options: Omit<ForgeOptions, "architecture" | "vocabulary"> = {},
) {
  return forgeModel(file, { ...options, architecture: "qwen3", vocabulary: "qwen2_5" });
}

/** Path of a forged model in the cache; written on first use. Do not change the file. */
export async function forgedModel(options: ForgeOptions = {}): Promise<string> {
  const all = withDefaults(options);
  const version = vocabularyVersion(all.vocabulary);
  const key = JSON.stringify([forgeVersion, version, dimensions[all.size], all]);
  const hash = createHash("sha256").update(key).digest("hex").slice(0, 12);
  const file = cacheFolder("forged", `${all.architecture}-${all.size}-${all.vocabulary}-${hash}.gguf`);
  if (!existsSync(file)) {
    await mkdir(path.dirname(file), { recursive: true });
    await forgeModel(file, all);
  }
  return file;
}

function withDefaults(options: ForgeOptions): Required<ForgeOptions> {
  return {
    architecture: "qwen3",
    size: "tiny",
    vocabulary: "qwen2_5_short",
    contextLength: 32_768,
    seed: 1,
    ...options,
  };
}
