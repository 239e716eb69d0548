import { stat } from "node:fs/promises";
import type { LanguageClientOutside } from "./client/language/languageClient";
import type { HistoryRecord } from "./core/history/historyRecord";
import type { Model } from "./core/model/model";
import type { MemoryDevice } from "./core/memory/devices/memoryDevice";
import type { SectionWait } from "./core/preset/sectionWait";
import type { SectionCostRequest } from "./core/protocol/serverRequests";
import { UserError } from "./core/userError";

/** Models of one or two presets. */
const maxModels = 30;
/** Free memory is measured again after this. */
const devicesAgeMs = 60_000;

export interface LanguageOutsideOptions {
  /** Where the history of measured speeds is kept. */
  readonly historyFolder: string;
  /** Tokens kept for the answer. */
  readonly answerReserve: () => number;
  /** Bytes to keep free on every device; undefined: as llama-server's `-fit` does. */
  readonly marginBytes: () => number | undefined;
}

/** What the language server may know of files, devices and speeds; everything is loaded at its first use. */
export function languageOutside({
  historyFolder,
  answerReserve,
  marginBytes,
}: LanguageOutsideOptions): LanguageClientOutside {
  const models = new Map<string, Promise<Model>>();
  let devices: { readonly at: number; readonly value: Promise<readonly MemoryDevice[]> } | undefined;
  let history: { readonly stamp: string; readonly value: Promise<readonly HistoryRecord[]> } | undefined;

  async function modelAt(path: string, signal: AbortSignal): Promise<Model | undefined> {
    try {
      const key = `${path}\0${await stampOf(path)}`;
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

  /** Read again only where the file has changed: every section asks. */
  async function measuredSpeeds(signal: AbortSignal): Promise<readonly HistoryRecord[]> {
    const { HistoryStore } = await import("./app/historyStore");
    const store = new HistoryStore(historyFolder);
    const stamp = await stampOf(store.file).catch(() => undefined);
    if (stamp === undefined) return [];
    if (history?.stamp !== stamp) {
      const records = store.read(signal).then(
        (content) => content.records,
        () => [],
      );
      history = { stamp, value: records };
    }
    return history.value;
  }

  async function waitOf(
    { options, modelPath }: SectionCostRequest,
    nCtxPerSlot: number,
    signal: AbortSignal,
  ): Promise<SectionWait | undefined> {
    const records = await measuredSpeeds(signal);
    if (records.length === 0) return undefined;
    const { sectionWait } = await import("./core/preset/sectionWait");
    const [reserve, now] = [answerReserve(), Date.now()];
    return sectionWait({ records, modelPath, options, nCtxPerSlot, answerReserve: reserve, now });
  }

  return {
    modelFacts: async (path, signal) => {
      const { modelFacts } = await import("./core/preset/sectionCost");
      const model = await modelAt(path, signal);
      return model && modelFacts(model);
    },
    sectionCost: async (asked, signal) => {
      const model = await modelAt(asked.modelPath, signal);
      if (model === undefined) return undefined;
      const { inheritedOptions } = await import("./node/machine/systemOptions");
      const request = { ...asked, options: { ...(await inheritedOptions()), ...asked.options } };
      const { sectionBudget, sectionCost } = await import("./core/preset/sectionCost");
      const margin = marginBytes();
      const kept = margin === undefined ? {} : { marginBytes: margin };
      const budget = sectionBudget(model, request.options, await freeDevices(signal), kept);
      return sectionCost(budget, await waitOf(request, budget.report.context.nCtxPerSlot, signal));
    },
    cachedModel: async ({ hfRepo, hfFile }, signal) => {
      const { cachedModelFile } = await import("./node/gguf/hubCache");
      return cachedModelFile(hfRepo, hfFile, signal);
    },
    repositories: async (signal) => {
      const { cachedRepositories } = await import("./node/gguf/hubCache");
      return cachedRepositories(signal);
    },
  };
}

async function stampOf(file: string): Promise<string> {
  const { mtimeMs, size } = await stat(file);
  return `${mtimeMs} ${size}`;
}

async function readModel(path: string, signal: AbortSignal): Promise<Model> {
  const { readGgufHeader } = await import("./node/gguf/ggufModelSource");
  const { modelOf } = await import("./core/model/modelOf");
  return modelOf(await readGgufHeader(path, signal));
}

async function measure(signal: AbortSignal): Promise<readonly MemoryDevice[]> {
  const { budgetDevices, measureMemory } = await import("./node/machine/measureMemory");
  return measureMemory({}, signal).then(budgetDevices, () => []);
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
