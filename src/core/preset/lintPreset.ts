import type { LaunchOptions } from "../launch/launchOptions";
import { launchAdvice, type LaunchAdvice, type ModelFacts } from "../launch/launchRules";
import { optionOfFlag, optionOfKey } from "../launch/serverOptions";
import { say, type Text } from "../text";
import { findingAt, insertLineAfter, replaceSpan, type Finding, type Fix } from "./finding";
import { entryFindings, keySuggestions } from "./keyRules";
import type { PresetEntry } from "./presetDocument";
import { entryOf, readPreset, sectionEntries, type Preset, type PresetModel } from "./presetModels";
import { sectionFindings } from "./sectionRules";
import { hasUnknownCacheType } from "./startErrors";
import { syntaxFindings } from "./syntaxRules";

/** What the outside knows about the files a preset names; everything is optional and answers at once. */
export interface LintContext {
  /** undefined: not known (an untrusted workspace, another machine's path). */
  readonly fileExists?: (path: string) => boolean | undefined;
  /** Of the model that these options name. */
  readonly modelFacts?: (options: LaunchOptions) => ModelFacts | undefined;
  /** What to say about a model's memory, where it cannot fit. */
  readonly memory?: (model: PresetModel) => Text | undefined;
}

/** Everything worth knowing about a models preset, in the order of its lines. */
export function lint(text: string, context: LintContext = {}): Finding[] {
  return lintPreset(readPreset(text), context);
}

export function lintPreset(preset: Preset, context: LintContext = {}): Finding[] {
  const { document, sections, models } = preset;
  const unused = unusedDefaults(preset);
  const suggestions = keySuggestions();
  const findings = [
    ...syntaxFindings(document),
    ...sectionFindings(preset),
    ...document.sections
      .filter((section) => sections.get(section.name) === section)
      .flatMap((section) => entryFindings(section, (entry) => unused.has(entry), suggestions)),
    ...new Map(models.flatMap((model) => modelFindings(preset, model, context)).map(withKey)).values(),
  ];
  return findings.sort((a, b) => a.line - b.line || a.column - b.column || compare(a.code, b.code));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The same finding in `[*]` comes from every model; once is enough. */
function withKey(finding: Finding): readonly [string, Finding] {
  return [`${finding.line}:${finding.column}:${finding.code}`, finding];
}

/** Entries of `[*]` that every model sets anew. */
function unusedDefaults({ defaults, models }: Preset): ReadonlySet<PresetEntry> {
  if (defaults === undefined) return new Set();
  const own = models.map(
    ({ section }) => new Set(sectionEntries(section).counting.map(({ named }) => named.option.name)),
  );
  const counting = sectionEntries(defaults).counting;
  return new Set(
    counting
      .filter(({ named }) => own.every((names) => names.has(named.option.name)))
      .map(({ entry }) => entry),
  );
}

const fileFields = ["model", "mmproj", "specDraftModel"] as const;

function modelFindings(preset: Preset, model: PresetModel, context: LintContext): Finding[] {
  const found: Finding[] = [];
  for (const field of fileFields) {
    const path = model.options[field];
    const entry = entryOf(preset, model, field);
    if (path === undefined || path === "" || entry === undefined || context.fileExists?.(path) !== false)
      continue;
    found.push(findingAt(entry.value, "warning", "fileMissing", say`The file ${path} does not exist.`));
  }
  const facts = context.modelFacts?.(model.options);
  // what is wrong with a type that is not known is said already, and of others nothing is asked
  const withTypes = !hasUnknownCacheType(preset, model);
  for (const advice of launchAdvice(model.options, facts)) {
    if (!withTypes && advice.code === "kvTypesNotOnCuda") continue;
    const entry = entryOf(preset, model, advice.field);
    if (entry === undefined) continue;
    const fix = fixOf(preset, model, advice, entry);
    found.push(findingAt(entry.value, advice.severity, advice.code, advice.message, fix));
  }
  const beyond = withTypes ? context.memory?.(model) : undefined;
  if (beyond !== undefined) {
    const entry = entryOf(preset, model, "ctxSize");
    const span = entry?.value ?? model.section.header;
    if (span !== undefined) found.push(findingAt(span, "warning", "exceedsMemory", beyond));
  }
  return found;
}

function fixOf(
  preset: Preset,
  model: PresetModel,
  { remedy }: LaunchAdvice,
  near: PresetEntry,
): Fix | undefined {
  if (remedy === undefined) return undefined;
  const option = optionOfFlag(remedy.option)?.option;
  if (option === undefined) return undefined;
  const sections = [model.section, preset.defaults];
  const key = option.name.replace(/^-+/, "");
  const line = `${key} = ${remedy.value}`;
  for (const section of sections) {
    const entry =
      section && sectionEntries(section).counting.find(({ named }) => named.option === option)?.entry;
    if (entry === undefined) continue;
    const negative = optionOfKey(entry.key.text)?.negative === true;
    if (!negative) return replaceSpan(say`Write ${line}`, entry.value, remedy.value);
  }
  return insertLineAfter(say`Add ${line}`, near.line, line);
}
