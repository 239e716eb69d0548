import { buildNumber } from "../core/launch/builds";
import type { ServerFacts } from "../core/acceptance/serverFacts";
import type { LaunchOptions } from "../core/launch/launchOptions";
import { budgets, type BudgetBasis, type Budgets } from "../core/memory/budget/budgets";
import { isHost, type MemoryDevice } from "../core/memory/devices/memoryDevice";
import { readsFeatures } from "../core/memory/budget/featureDraft";
import { memoryBudget } from "../core/memory/budget/memoryBudget";
import type { BudgetSettings } from "../core/memory/budget/breakdown";
import { loggedBudget } from "../core/logs/loggedBudget";
import type { LoggedBudget, MemoryReport, MemoryWarning } from "../core/memory/budget/memoryReport";
import { sameProbe } from "../core/memory/budget/fitParams";
import { isLocal } from "../core/servers/serverAddress";
import { projectorOf, type Projector } from "../core/memory/projector/projector";
import { knownOr } from "../core/known";
import type { Model } from "../core/model/model";
import { modelOf } from "../core/model/modelOf";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import type { FitProbe } from "../node/machine/fitProbe";
import { readGgufHeader } from "../node/gguf/ggufModelSource";
import { findLlamaProgram } from "../node/machine/llamaPrograms";
import { textOfRegular } from "../node/reading/regularFile";
import { inTime } from "../node/waiting/within";

/** What a budget is made from besides the model. */
export interface MemorySetup {
  /** "measure": ask this machine. */
  readonly devices: readonly MemoryDevice[] | "measure";
  /** Folder of llama.cpp's programs; absent: PATH. "none": start nothing. */
  readonly programs: { readonly folder?: string } | "none";
  /** Bytes to keep free on every device; absent: as llama-server's own `-fit` does. */
  readonly marginBytes?: number;
  /** Asks llama-fit-params, too, and remembers what it said. */
  readonly fitProbe?: FitProbe;
  /** Milliseconds its answer is waited for; what comes later counts the next time. Absent: as long as it takes. */
  readonly probePatience?: number;
  /** Log of the server that runs. */
  readonly serverLog?: string;
}

/** Budgets of a model on this machine. `facts`: of the server that holds it now. */
export async function gatherBudgets(
  setup: MemorySetup,
  { model, path }: { readonly model: Model; readonly path: string },
  launch: LaunchOptions,
  facts: ServerFacts | undefined,
  signal: AbortSignal,
): Promise<Budgets> {
  const { devices, silent } =
    setup.devices === "measure"
      ? await measured(setup, launch, signal)
      : { devices: setup.devices, silent: [] };
  const build = buildNumber(facts?.build);
  const projector = await projectorAt(launch.mmproj, signal);
  const draft = await draftModel(launch, signal);
  const settings: BudgetSettings = {
    ...(draft && { draft }),
    ...(build !== undefined && { build }),
    ...(setup.marginBytes !== undefined && { marginBytes: setup.marginBytes }),
    ...(projector && { projector }),
  };
  // what a running server holds here is not free now, and is not needed again
  const held = facts !== undefined && !facts.sleeping && isLocal(facts.url);
  const free = !held ? devices : without(devices, memoryBudget(model, launch, devices, settings));
  // llama-fit-params shares layers out by what is free now, and that is not what the running server found
  const shared = free.filter((device) => !isHost(device)).length > 1 && launch.tensorSplit === undefined;
  const asked: Probed =
    facts !== undefined && shared
      ? { warnings: [] }
      : await probe(setup, { model, path }, launch, { devices: free, settings }, signal);
  const rows = facts === undefined ? undefined : await logged(setup.serverLog);
  return budgets({
    model,
    devices: free,
    settings,
    ...(asked.probed && { probed: asked.probed }),
    ...(rows && { logged: { launch, rows } }),
    warnings: [...silent.map(silentTool), ...asked.warnings],
  });
}

async function measured(
  { programs }: MemorySetup,
  { rpc }: LaunchOptions,
  signal: AbortSignal,
): Promise<{ readonly devices: readonly MemoryDevice[]; readonly silent: readonly string[] }> {
  if (programs === "none") return { devices: [], silent: [] };
  const { budgetDevices, measureMemory } = await import("../node/machine/measureMemory");
  const program = await findLlamaProgram("llama-server", programs.folder);
  const found = await measureMemory(
    { ...(program !== undefined && { program }), ...(rpc !== undefined && { rpc }) },
    signal,
  );
  return { devices: budgetDevices(found), silent: found.silent };
}

const silentTool = (tool: string): MemoryWarning => ({
  code: "deviceToolSilent",
  message: say`${tool} could not report this machine's free device memory, so devices only it can detect are missing here; llama-server will still use them.`,
});

interface Probed {
  readonly probed?: BudgetBasis["probed"];
  readonly warnings: readonly MemoryWarning[];
}

async function probe(
  { programs, fitProbe, probePatience }: MemorySetup,
  { model, path }: { readonly model: Model; readonly path: string },
  options: LaunchOptions,
  { devices, settings }: Pick<BudgetBasis, "devices" | "settings">,
  signal: AbortSignal,
): Promise<Probed> {
  if (fitProbe === undefined || programs === "none" || /^https?:/i.test(path)) return { warnings: [] };
  const program = await findLlamaProgram("llama-fit-params", programs.folder);
  if (program === undefined) return { warnings: [] };
  try {
    const request = { program, modelPath: path, model, options, devices, settings };
    const asked = fitProbe.correction(request, signal);
    const correction = probePatience === undefined ? await asked : await inTime(asked, probePatience);
    if (correction === undefined) return { warnings: [] };
    return {
      probed: { correction, holds: (launch) => sameProbe(model, launch, options) },
      warnings: [],
    };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { warnings: [{ code: "probeFailed", message: say`${error.problem} ${error.remedy}` }] };
  }
}

function without(devices: readonly MemoryDevice[], { devices: held }: MemoryReport): readonly MemoryDevice[] {
  return devices.map((device) => {
    const bytes = held.find(({ name }) => name === device.name)?.totalBytes ?? 0;
    const freeBytes = Math.min(device.freeBytes + bytes, device.totalBytes ?? Infinity);
    return { ...device, freeBytes };
  });
}

/** The model of `-md`, where it drafts; other kinds of drafting share the main model's context, and are not computed. */
async function draftModel(
  { specDraftModel, specType }: LaunchOptions,
  signal: AbortSignal,
): Promise<Model | undefined> {
  if (specDraftModel === undefined) return undefined;
  const read = await knownOr(readGgufHeader(specDraftModel, signal).then(modelOf));
  if (!read.known) return undefined;
  const model = read.value;
  const kinds = readsFeatures(model) ? featureDrafts : ["draft-simple"];
  return specType === undefined || specType.some((type) => kinds.includes(type)) ? model : undefined;
}

const featureDrafts: readonly string[] = ["draft-eagle3", "draft-dflash", "draft-dspark"];

/** What loading says stands in a log's beginning. */
const logBeginning = 4 * 2 ** 20;

async function logged(file: string | undefined): Promise<readonly LoggedBudget[] | undefined> {
  if (file === undefined) return undefined;
  const reading = { most: logBeginning, part: "start" } as const;
  const text = await textOfRegular(file, reading).catch(() => undefined);
  if (text === undefined) return undefined;
  const { explainLog } = await import("../core/logs/explainLog");
  return loggedBudget(explainLog(text).facts);
}

async function projectorAt(file: string | undefined, signal: AbortSignal): Promise<Projector | undefined> {
  if (file === undefined) return undefined;
  const header = await knownOr(readGgufHeader(file, signal));
  return header.known ? projectorOf(header.value) : undefined;
}
