import { checkValue } from "../launch/optionValue";
import { count, say, type Text } from "../text";
import type { Finding } from "./finding";
import { sectionEntries, type Preset, type PresetModel } from "./presetModels";

/** With one of these the router refuses the whole file; other errors stop the model of their section. */
const refusesFile: ReadonlySet<string> = new Set([
  ...[
    "byteOrderMark",
    "indented",
    "noEquals",
    "noKey",
    "badKey",
    "emptyName",
    "unclosedHeader",
    "afterHeader",
  ],
  ...["unknownKey", "renamedKey", "removedOption", "twoValues", "aliasConflict"],
]);

/** How many errors keep a model from being served. */
export function startErrors(
  { defaults }: Preset,
  { section }: PresetModel,
  findings: readonly Finding[],
): number {
  const isIn = (line: number, of: Preset["defaults"]): boolean =>
    of !== undefined && line > (of.header?.line ?? -1) && line <= of.lastLine + 1;
  return findings.filter(
    ({ severity, code, line }) =>
      severity === "error" && (refusesFile.has(code) || isIn(line, section) || isIn(line, defaults)),
  ).length;
}

/** In the place of figures, which would be those of other options. */
export const willNotStart = (errors: number): Text => say`Will not start: ${count(errors)} error[s]`;

/** Does a model ask for a KV cache type that is not known here? Then nothing is known of its cache either. */
export function hasUnknownCacheType({ defaults }: Preset, { section }: PresetModel): boolean {
  const inherited = defaults === undefined ? [] : sectionEntries(defaults).counting;
  const counting = new Map(
    [...inherited, ...sectionEntries(section).counting].map((each) => [each.named.option.name, each]),
  );
  return ["--cache-type-k", "--cache-type-v"].some((name) => {
    const found = counting.get(name);
    return (
      found !== undefined &&
      checkValue(found.named.option.value, found.entry.value.text)?.severity === "error"
    );
  });
}
