import { stat } from "node:fs/promises";
import type { HistoryRecord } from "../core/history/historyRecord";
import type { ModelFacts } from "../core/launch/launchRules";
import type { MemoryDevice } from "../core/memory/devices/memoryDevice";
import type { Model } from "../core/model/model";
import { modelOf } from "../core/model/modelOf";
import { modelFacts, sectionBudget, sectionCost, type SectionCost } from "../core/preset/sectionCost";
import { sectionWait, type SectionWait } from "../core/preset/sectionWait";
import type { CachedModelRequest, SectionCostRequest } from "../core/protocol/serverRequests";
import { UserError } from "../core/userError";
import { readGgufHeader } from "../node/gguf/ggufModelSource";
import { cachedModelFile, cachedRepositories } from "../node/gguf/hubCache";
import { budgetDevices, measureMemory } from "../node/machine/measureMemory";
import type { AppHost } from "./host";
import { HistoryStore } from "./historyStore";
import { launchWith } from "./launchArguments";

/** Models of one or two presets. */
const maxModels = 30;
/** Free memory is measured again after this. */
const devicesAgeMs = 60_000;

/** What is asked of the machine; a test's machine answers as the test wants. */
export interface PresetMachine {
  readonly devices: (signal: AbortSignal) => Promise<readonly MemoryDevice[]>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const thisMachine: PresetMachine = {
  devices: async (signal) => budgetDevices(await measureMemory({}, signal)),
  now: Date.now,
};

/** What a preset's sections cost on this machine; everything is read again only where it may have changed. */
export class PresetCosts {
  readonly #history: HistoryStore;
  readonly #models = new Map<string, Promise<Model>>();
  #devices: { readonly at: number; readonly value: Promise<readonly MemoryDevice[]> } | undefined;
  #records: { readonly stamp: string; readonly value: Promise<readonly HistoryRecord[]> } | undefined;

  constructor(
    private readonly host: Pick<AppHost, "cacheFolder" | "settings">,
    private readonly machine: PresetMachine = thisMachine,
  ) {
    this.#history = new HistoryStore(host.cacheFolder);
  }

  /** undefined where there is no model of that path. */
  async modelFacts(path: string, signal: AbortSignal): Promise<ModelFacts | undefined> {
    const model = await this.#modelAt(path, signal);
    return model && modelFacts(model);
  }

  async sectionCost(asked: SectionCostRequest, signal: AbortSignal): Promise<SectionCost | undefined> {
    const model = await this.#modelAt(asked.modelPath, signal);
    if (model === undefined) return undefined;
    const request = { ...asked, options: await launchWith(asked.options) };
    const { marginBytes } = this.host.settings();
    const kept = marginBytes === undefined ? {} : { marginBytes };
    const budget = sectionBudget(model, request.options, await this.#freeDevices(signal), kept);
    return sectionCost(budget, await this.#waitOf(request, budget.report.context.nCtxPerSlot, signal));
  }

  /** The file that `-hf` would take from llama.cpp's cache. */
  async cachedModel(
    { hfRepo, hfFile }: CachedModelRequest,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    return cachedModelFile(hfRepo, hfFile, signal);
  }

  /** What `-hf` can be given without a download. */
  async repositories(signal: AbortSignal): Promise<readonly string[]> {
    return cachedRepositories(signal);
  }

  async #modelAt(path: string, signal: AbortSignal): Promise<Model | undefined> {
    try {
      const key = `${path}\0${await stampOf(path)}`;
      const known = this.#models.get(key);
      if (known !== undefined) return await known;
      if (this.#models.size >= maxModels) this.#models.clear();
      const read = readModel(path, signal);
      this.#models.set(key, read);
      // what is no model stays none until the file changes; what could not be read may be readable the next time
      read.catch((error: unknown) => {
        if (!(error instanceof UserError)) this.#models.delete(key);
      });
      return await read;
    } catch (error) {
      // a file that is no model, or not readable, is no news about a preset
      if (error instanceof UserError || signal.aborted || isSystemError(error)) return undefined;
      throw error;
    }
  }

  #freeDevices(signal: AbortSignal): Promise<readonly MemoryDevice[]> {
    const now = this.machine.now();
    if (this.#devices === undefined || now - this.#devices.at > devicesAgeMs) {
      this.#devices = { at: now, value: this.machine.devices(signal).catch(() => []) };
    }
    return this.#devices.value;
  }

  /** Every section asks. */
  async #measuredSpeeds(signal: AbortSignal): Promise<readonly HistoryRecord[]> {
    const stamp = await stampOf(this.#history.file).catch(() => undefined);
    if (stamp === undefined) return [];
    if (this.#records?.stamp !== stamp) {
      const value = this.#history.read(signal).then(
        ({ records }) => records,
        () => [],
      );
      this.#records = { stamp, value };
    }
    return this.#records.value;
  }

  async #waitOf(
    { options, modelPath }: SectionCostRequest,
    nCtxPerSlot: number,
    signal: AbortSignal,
  ): Promise<SectionWait | undefined> {
    const records = await this.#measuredSpeeds(signal);
    const { answerReserveTokens: answerReserve } = this.host.settings();
    return sectionWait({ records, modelPath, options, nCtxPerSlot, answerReserve, now: this.machine.now() });
  }
}

async function stampOf(file: string): Promise<string> {
  const { mtimeMs, size } = await stat(file);
  return `${mtimeMs} ${size}`;
}

async function readModel(path: string, signal: AbortSignal): Promise<Model> {
  return modelOf(await readGgufHeader(path, signal));
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
