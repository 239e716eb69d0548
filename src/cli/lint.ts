import { existsSync } from "node:fs";
import path from "node:path";
import { launchWith } from "../app/launchArguments";
import { formatText } from "../core/format";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { MemoryDevice } from "../core/memory/devices/memoryDevice";
import type { Model } from "../core/model/model";
import { modelOf } from "../core/model/modelOf";
import type { Finding } from "../core/preset/finding";
import { lintBytes } from "../core/preset/lintBytes";
import { readPreset, type PresetModel } from "../core/preset/presetModels";
import { beyondMemory, modelFacts } from "../core/preset/sectionCost";
import { UserError } from "../core/userError";
import { budgetDevices, measureMemory } from "../node/machine/measureMemory";
import { readGgufHeader } from "../node/gguf/ggufModelSource";
import { cachedModelFile } from "../node/gguf/hubCache";
import type { CliCommand } from "./command";
import { exitCode, printJson, printLines } from "./output";
import { bytesOf } from "./textFile";

export const addLint: CliCommand = (program, context) => {
  program
    .command("lint")
    .description("what llama-server would reject in a models preset (--models-preset), and other findings")
    .argument("<file>", "FILE.ini")
    .option("--json", "one JSON document on stdout")
    .action(async (file: string, options: { json?: true }) => {
      const bytes = await bytesOf(file, context.signal);
      const folder = path.dirname(file);
      const { models } = readPreset(new TextDecoder().decode(bytes));
      const headers = await readModels(models, folder, context.signal);
      const devices = headers.size === 0 ? [] : await measuredDevices(context.signal);
      // as the editor: what the system and its variables set counts under what the preset says
      const inherited = await launchWith({});
      const findings = lintBytes(bytes, {
        fileExists: (name) => fileExists(name, folder),
        modelFacts: (options) => {
          const model = headers.get(nameOf(options));
          return model && modelFacts(model);
        },
        memory: ({ options }) => {
          const model = headers.get(nameOf(options));
          return model && beyondMemory(model, { ...inherited, ...options }, devices);
        },
      });
      if (options.json) printJson({ findings });
      else printLines(findings.map((finding) => findingLine(file, finding)));
      if (findings.some(({ severity }) => severity === "error")) context.finish(exitCode.no);
    });
};

/** Relative paths start from the server's folder, which nobody knows here: only that one is there tells. */
function fileExists(name: string, folder: string): boolean | undefined {
  const found = existsSync(path.resolve(folder, name));
  return found || path.isAbsolute(name) ? found : undefined;
}

/** What tells the models of a preset apart. */
const nameOf = ({ model, hfRepo, hfFile }: LaunchOptions): string =>
  model === undefined ? `${hfRepo ?? ""}\0${hfFile ?? ""}` : model;

/** Headers of the models that lie on this machine, by `nameOf`; those of `hf` in llama.cpp's cache. */
async function readModels(
  models: readonly PresetModel[],
  folder: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Model>> {
  const found = new Map<string, Model>();
  const named = new Map(models.map(({ options }) => [nameOf(options), options]));
  for (const [name, options] of named) {
    const file = await fileOf(options, folder, signal);
    if (file === undefined) continue;
    try {
      found.set(name, modelOf(await readGgufHeader(file, signal)));
    } catch (error) {
      // what is no model says nothing; llama-server will say it
      if (!(error instanceof UserError)) throw error;
    }
  }
  return found;
}

async function fileOf(
  { model, hfRepo, hfFile }: LaunchOptions,
  folder: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (model === undefined) {
    return hfRepo === undefined ? undefined : await cachedModelFile(hfRepo, hfFile, signal);
  }
  const there = model !== "" && !model.includes("\0") && fileExists(model, folder) === true;
  return there ? path.resolve(folder, model) : undefined;
}

async function measuredDevices(signal: AbortSignal): Promise<readonly MemoryDevice[]> {
  return budgetDevices(await measureMemory({}, signal));
}

const findingLine = (file: string, { line, column, severity, code, message }: Finding): string =>
  `${file}:${line}:${column}: ${severity} ${code}: ${formatText(message)}`;
