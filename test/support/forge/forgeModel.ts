import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { cacheFolder } from "../cacheFolder";
import { vocabulary, type VocabularyName } from "../vocabularies/vocabulary";
import { denseModel, type DenseArchitecture } from "./denseModel";
import { dimensions, type ModelSize } from "./sizes";
import { writeGguf } from "./writeGguf";

export interface ForgeOptions {
  readonly architecture?: DenseArchitecture;
  readonly size?: ModelSize;
  readonly vocabulary?: VocabularyName;
  readonly contextLength?: number;
  readonly seed?: number;
}

/** Raised when the forge writes other bytes for the same options. */
const forgeVersion = 1;

/** Writes a model with random weights that llama.cpp loads and runs. */
export async function forgeModel(file: string, options: ForgeOptions = {}): Promise<void> {
  const { architecture, size, contextLength, seed, vocabulary: name } = withDefaults(options);
  const model = denseModel(architecture, dimensions[size], contextLength, await vocabulary(name));
  await writeGguf(file, model, { seed });
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
  const { version } = await vocabulary(all.vocabulary);
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
    vocabulary: "qwen2_5",
    contextLength: 32_768,
    seed: 1,
    ...options,
  };
}
