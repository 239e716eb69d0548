import type { ServerFacts } from "../core/acceptance/serverFacts";
import { speedFlags } from "../core/llamaBench/benchArguments";
import { curveWith } from "../core/history/curveChoice";
import { known, knownOr, unknown, valueOf, type Known } from "../core/known";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { Budgets } from "../core/memory/budget/budgets";
import type { CountCache } from "../core/tokens/keptCount";
import type { CurveKey } from "../core/prefill/depthCurve";
import type { ServerMemory } from "../core/memory/devices/liveMemory";
import { besideServer } from "../core/report/besideServer";
import type { Situation } from "../core/report/situation";
import { say } from "../core/text";
import { gatherBudgets, type MemorySetup } from "./budgets";
import type { HistoryStore } from "./historyStore";
import { absoluteModel, rememberedCurves } from "./probe";
import { runningLaunch } from "../core/servers/runningLaunch";
import { serverCurveKey } from "../core/bench/serverCurveKey";
import { namedCurve, type CurveFile } from "../core/history/namedCurve";
import { findServer, type ServerSetup } from "./runningServer";
import { modelTemplate, type RenderTemplate } from "../node/template/modelTemplate";
import { chooseModel, otherModelText, withoutNamed, type ChosenModel, type ReadHeader } from "./servedModel";
import { chooseTokenizer, type OpenVocabulary } from "./tokenizerChoice";

/** What the user has set or said. */
export interface Setup extends MemorySetup, ServerSetup {
  readonly programs: MemorySetup["programs"];
  /** A GGUF; absent: the one among the launch options, else the running server's own where it lies on this machine. */
  readonly modelFile?: string;
  readonly openVocabulary: OpenVocabulary;
  /** Reads a GGUF's header; what is read again and again may be kept. */
  readonly readHeader?: ReadHeader;
  readonly renderTemplate: RenderTemplate;
  /** Opens the counts that are kept for a tokenizer; absent: nothing is kept. */
  readonly counts?: (fingerprint: string) => Promise<CountCache>;
  /** A curve that was named; `any`: also if it is of another setup. */
  readonly curve?: { readonly file: CurveFile; readonly any: boolean };
  /** Where curves of this model are looked for where none was named. */
  readonly history?: HistoryStore;
}

/** What counts, as soon as that is known. */
export type Counter = Pick<Situation, "tokenizer" | "counts">;

/**
 * Asks everything outside once. What is missing becomes an unknown with its remedy; only an abort fails.
 * @param onCounter called before the memory of the machine is known, so that counting need not wait for it
 */
export async function gather(
  setup: Setup,
  signal: AbortSignal,
  onCounter: (counter: Counter) => void = () => undefined,
): Promise<Situation> {
  const found = await findServer(setup, signal);
  const { server } = found;
  const connected = valueOf(server);
  const facts = connected?.facts;
  const named = setup.modelFile ?? setup.launch.model;
  const { openVocabulary } = setup;
  const chosen = await chooseModel(named, facts, signal, setup.readHeader);
  const choosing = chooseTokenizer(
    { server: connected, modelFile: valueOf(chosen.file), openVocabulary },
    signal,
  );
  const launchFor = ({ other }: ChosenModel): LaunchOptions =>
    other !== undefined && facts && !found.ownOptions ? runningLaunch(facts, {}) : found.launch;
  const budgetsFor = async (its: ChosenModel): Promise<Known<Budgets>> =>
    its.read.known
      ? known(await gatherBudgets(setup, its.read.value, launchFor(its), facts, signal))
      : its.read;
  // a file that is the server's model by its name alone may turn out not to be, by its vocabulary
  const early = chosen.identity === "named" ? undefined : budgetsFor(chosen);
  early?.catch(() => undefined);
  const { tokenizer, otherVocabulary } = await choosing;
  const counts = countsOf(setup, tokenizer.fingerprint);
  onCounter({ tokenizer, ...counts });
  const sure = otherVocabulary === true ? withoutNamed(chosen) : chosen;
  const { file: modelFile, read, other } = sure;
  const launch = launchFor(sure);
  const budgets = await (sure === chosen && early !== undefined ? early : budgetsFor(sure));
  const memory = budgets.known ? known(budgets.value.of(launch)) : budgets;
  const held = await heldMemory(setup, { facts, memory }, signal);
  const notes = other !== undefined && facts ? [otherModelText(other, facts)] : [];
  return {
    ...{ server, launch, tokenizer },
    ...(other !== undefined && { otherModel: other }),
    launchNotes: [...notes, ...found.launchNotes],
    modelFile: modelFile.known ? known(absoluteModel(modelFile.value)) : modelFile,
    ...counts,
    ...(read.known && {
      template: modelTemplate(
        { launch, header: read.value.header, ...(tokenizer.ends && { ends: tokenizer.ends }) },
        setup.renderTemplate,
      ),
    }),
    model: read.known ? known(read.value.model) : read,
    memory,
    ...(held && { held }),
    ...(budgets.known && { budgets: budgets.value }),
    ...(await measuredSpeed(setup, { facts, launch, file: valueOf(modelFile) }, signal)),
  };
}

/** What the server's process holds, where the calculation finds too little for it. */
async function heldMemory(
  { programs }: Setup,
  { facts, memory }: { readonly facts: ServerFacts | undefined; readonly memory: Situation["memory"] },
  signal: AbortSignal,
): Promise<ServerMemory | undefined> {
  if (programs === "none" || facts === undefined) return undefined;
  if (besideServer({ server: known(facts), memory })?.verdict !== "tight") return undefined;
  const { memoryOfServer } = await import("../node/machine/watchMemory");
  return memoryOfServer(facts.url, signal);
}

function countsOf({ counts }: Setup, fingerprint: string | undefined): Pick<Situation, "counts"> {
  return counts === undefined || fingerprint === undefined ? {} : { counts: () => counts(fingerprint) };
}

interface Setting {
  readonly facts: ServerFacts | undefined;
  readonly launch: LaunchOptions;
  readonly file?: string | undefined;
}

/** The setup as a curve's key; undefined where neither server nor model are known. */
export function setupKey({ facts, launch, file }: Setting): CurveKey | undefined {
  if (facts !== undefined) return serverCurveKey(facts, launch);
  return file === undefined ? undefined : serverCurveKey({ model: { id: absoluteModel(file) } }, launch);
}

/** What was measured of this model: with these options, and with others. */
export async function measuredSpeed(
  { curve, history }: Pick<Setup, "curve" | "history">,
  setting: Setting,
  signal: AbortSignal,
): Promise<Pick<Situation, "curve" | "curveNotes" | "origin" | "curves" | "curveOf">> {
  if (curve !== undefined) {
    const key = setupKey(setting);
    const named = namedCurve(curve.file, key, { any: curve.any, now: Date.now() });
    return { curve: named.curve, curveNotes: named.notes };
  }
  const none = unknown(say`No speed has been measured yet.`, say`Run a depth probe.`);
  const { facts, launch, file } = setting;
  const model = facts?.model.path ?? facts?.model.id ?? (file && absoluteModel(file));
  if (history === undefined || model === undefined) return { curve: none };
  const found = await knownOr(
    rememberedCurves(history, { model, build: facts?.build ?? "" }, launch, signal),
  );
  if (!found.known) return { curve: found };
  const { current, all } = found.value;
  return {
    curve: current === undefined ? none : known(current.curve),
    ...(current !== undefined && { origin: current.origin }),
    ...(all.length > 0 && { curves: all }),
    curveOf: (its) => curveWith(all, speedFlags(its)),
  };
}
