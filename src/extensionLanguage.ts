import { stat } from "node:fs/promises";
import type { LanguageClientOutside } from "./client/languageClient";
import type { Model } from "./core/model/model";
import type { MemoryDevice } from "./core/memory/devices";
import { UserError } from "./core/userError";

/** Models of one or two presets. */
const maxModels = 30;
/** Free memory is measured again after this. */
const devicesAgeMs = 60_000;

/** What the language server may know of files and devices; everything is loaded at its first use. */
export function languageOutside(): LanguageClientOutside {
  const models = new Map<string, Promise<Model>>();
  let devices: { readonly at: number; readonly value: Promise<readonly MemoryDevice[]> } | undefined;

  async function modelAt(path: string, signal: AbortSignal): Promise<Model | undefined> {
    try {
      const { mtimeMs, size } = await stat(path);
      const key = `${path}\0${mtimeMs}\0${size}`;
      const known = models.get(key) ?? readModel(path, signal);
      if (models.size >= maxModels) models.clear();
      models.set(key, known);
      return await known;
    } catch (error) {
      // a file that is no model, or not readable, is no news about a preset
      if (error instanceof UserError || signal.aborted || isSystemError(error)) return undefined;
      throw error;
    }
  }

  function freeDevices(signal: AbortSignal): Promise<readonly MemoryDevice[]> {
    if (devices === undefined || Date.now() - devices.at > devicesAgeMs) {
      devices = { at: Date.now(), value: measure(signal) };
    }
    return devices.value;
  }

  return {
    modelFacts: async (path, signal) => {
      const { modelFacts } = await import("./core/preset/sectionCost");
      const model = await modelAt(path, signal);
      return model && modelFacts(model);
    },
    sectionCost: async ({ options, modelPath }, signal) => {
      const model = await modelAt(modelPath, signal);
      if (model === undefined) return undefined;
      const { memoryBudget } = await import("./core/memory/memoryBudget");
      const { sectionCost } = await import("./core/preset/sectionCost");
      return sectionCost(memoryBudget(model, options, await freeDevices(signal)));
    },
  };
}

async function readModel(path: string, signal: AbortSignal): Promise<Model> {
  const { readGgufHeader } = await import("./node/ggufModelSource");
  const { modelOf } = await import("./core/model/modelOf");
  return modelOf(await readGgufHeader(path, signal));
}

async function measure(signal: AbortSignal): Promise<readonly MemoryDevice[]> {
  const { budgetDevices, measureMemory } = await import("./node/devices");
  return measureMemory({}, signal).then(budgetDevices, () => []);
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
