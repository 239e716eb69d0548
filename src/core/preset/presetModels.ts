import { LaunchBuilder, secretMask, type GivenOption } from "../launch/launchBuilder";
import type { LaunchOptions, OptionOrigin } from "../launch/launchOptions";
import { checkValue, falsy, truthy } from "../launch/optionValue";
import { optionOfKey, type NamedOption } from "../launch/serverOptions";
import { parsePreset, type PresetDocument, type PresetEntry, type PresetSection } from "./presetDocument";

/** Keys that only presets know: they are for the router, not for the model's server. */
export const presetOnlyKeys: readonly string[] = ["load-on-startup", "stop-timeout"];
/** Keys that are read and dropped, or replaced, when the router starts a model. */
export const routerOwned: ReadonlySet<string> = new Set([
  "--host",
  "--port",
  "--api-key",
  "--api-key-file",
  "--ssl-key-file",
  "--ssl-cert-file",
  "--models-dir",
  "--models-preset",
  "--models-max",
  "--models-autoload",
]);

/** A model as the router would start it. */
export interface PresetModel {
  readonly name: string;
  readonly section: PresetSection;
  readonly options: LaunchOptions;
  readonly origins: ReadonlyMap<keyof LaunchOptions, OptionOrigin>;
  readonly given: readonly GivenOption[];
}

/** A key that has no effect, and the one of the same option that counts instead. */
export interface Overruled {
  readonly entry: PresetEntry;
  readonly by: PresetEntry;
}

export interface SectionEntries {
  /** One per option. */
  readonly counting: readonly { readonly entry: PresetEntry; readonly named: NamedOption }[];
  readonly overruled: readonly Overruled[];
}

/**
 * Which entry of a section counts for each option. llama.cpp keeps keys sorted by their bytes, so of two names of one
 * option the later in that order wins, wherever it stands; of two equal keys the later in the file.
 */
export function sectionEntries(section: PresetSection): SectionEntries {
  const known = memo.get(section);
  if (known !== undefined) return known;
  const entries = resolveEntries(section);
  memo.set(section, entries);
  return entries;
}

const memo = new WeakMap<PresetSection, SectionEntries>();

function resolveEntries(section: PresetSection): SectionEntries {
  const byKey = new Map<string, PresetEntry>();
  const overruled: Overruled[] = [];
  for (const entry of section.entries) {
    const earlier = byKey.get(entry.key.text);
    if (earlier !== undefined) overruled.push({ entry: earlier, by: entry });
    byKey.set(entry.key.text, entry);
  }
  const byOption = new Map<string, { readonly entry: PresetEntry; readonly named: NamedOption }>();
  for (const [key, entry] of [...byKey].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const named = optionOfKey(key);
    if (named === undefined || key === "version") continue;
    const earlier = byOption.get(named.option.name);
    if (earlier !== undefined) overruled.push({ entry: earlier.entry, by: entry });
    byOption.set(named.option.name, { entry, named });
  }
  return { counting: [...byOption.values()], overruled };
}

/** How llama.cpp reads the value of a switch in a preset: what is not one of its words for "off" is on. */
export function switchIsOn(named: NamedOption, value: string): boolean {
  if (named.option.negatives.length === 0) return !falsy.includes(value);
  return named.negative ? !truthy.includes(value) : !falsy.includes(value);
}

/** A preset with its names resolved. */
export interface Preset {
  readonly document: PresetDocument;
  /** The last section of each name; earlier ones of the same name are forgotten whole. */
  readonly sections: ReadonlyMap<string, PresetSection>;
  /** `[*]`. */
  readonly defaults?: PresetSection;
  /** `[*]` under each section, values llama-server would refuse left out. */
  readonly models: readonly PresetModel[];
}

export function readPreset(text: string): Preset {
  const document = parsePreset(text);
  const sections = new Map(document.sections.map((section) => [section.name, section]));
  const defaults = sections.get("*");
  const inherited = defaults === undefined ? [] : sectionEntries(defaults).counting;
  const models = [...sections.values()]
    .filter((section) => section !== defaults && isModel(section))
    .map((section) => readModel(section, inherited));
  return { document, sections, ...(defaults === undefined ? {} : { defaults }), models };
}

/** Lines above the first header make a model called default, unless they are only `version`. */
function isModel(section: PresetSection): boolean {
  return section.header !== undefined || sectionEntries(section).counting.length > 0;
}

/** The entry that set a launch option of a model, in its section or in `[*]`. */
export function entryOf(
  { defaults }: Preset,
  model: PresetModel,
  field: keyof LaunchOptions,
): PresetEntry | undefined {
  const origin = model.origins.get(field);
  if (origin?.kind !== "preset") return undefined;
  const section = origin.section === "*" && model.name !== "*" ? defaults : model.section;
  return section && entryInLine(section, origin.line - 1);
}

/** @param line from 0 */
export function entryInLine({ entries }: PresetSection, line: number): PresetEntry | undefined {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.line ?? line) < line) low = middle + 1;
    else high = middle;
  }
  return entries[low]?.line === line ? entries[low] : undefined;
}

function readModel(section: PresetSection, inherited: SectionEntries["counting"]): PresetModel {
  const builder = new LaunchBuilder();
  const own = sectionEntries(section).counting;
  const named = new Set(own.map((entry) => entry.named.option.name));
  const layers = [
    { name: "*", entries: inherited.filter((entry) => !named.has(entry.named.option.name)) },
    { name: section.name, entries: own },
  ];
  for (const layer of layers) {
    for (const { entry, named } of layer.entries) add(builder, layer.name, entry, named);
  }
  return { name: section.name, section, ...builder.result() };
}

function add(builder: LaunchBuilder, section: string, entry: PresetEntry, named: NamedOption): void {
  const { option } = named;
  if (routerOwned.has(option.name) || option.name === "--alias") return;
  const origin: OptionOrigin = { kind: "preset", section, key: entry.key.text, line: entry.line + 1 };
  if (option.value.kind === "flag") {
    const on = switchIsOn(named, entry.value.text);
    if (on || option.negatives.length > 0) builder.add(option, "", on, origin);
  } else if (checkValue(option.value, entry.value.text)?.severity !== "error") {
    builder.add(option, entry.value.text, true, origin);
  }
}

/** The command line of a model of a preset, program left out; secrets masked. */
export function modelArguments(model: PresetModel): string[] {
  return model.given.flatMap(({ option, value, on }) => {
    if (option.value.kind !== "flag") return [option.name, value];
    const flag = on ? option.name : option.negatives.at(-1);
    return flag === undefined ? [] : [flag];
  });
}

/** The command line of a model of a preset as it is, with its token: for starting it, never for showing. */
export function startArguments(preset: Preset, model: PresetModel): string[] {
  const argv = modelArguments(model);
  return argv.map((word, index) => {
    const flag = argv[index - 1];
    if (word !== secretMask || flag === undefined) return word;
    const entries = sectionsOf(preset, model).flatMap((section) => sectionEntries(section).counting);
    return entries.find(({ named }) => named.option.name === flag)?.entry.value.text ?? word;
  });
}

function sectionsOf({ defaults }: Preset, { section }: PresetModel): readonly PresetSection[] {
  return defaults === undefined ? [section] : [section, defaults];
}
