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

/** How many errors keep each model from being served. */
export function startErrors(
  { defaults }: Preset,
  findings: readonly Finding[],
): (model: PresetModel) => number {
  const errors = findings.filter(({ severity }) => severity === "error");
  const lines = errors
    .flatMap(({ code, line }) => (refusesFile.has(code) ? [] : [line - 1]))
    .sort((a, b) => a - b);
  const ofAll = errors.length - lines.length + within(lines, defaults);
  return ({ section }) => ofAll + within(lines, section);
}

/** How many of the sorted lines, from 0, are a section's. */
function within(lines: readonly number[], section: Preset["defaults"]): number {
  if (section === undefined || lines.length === 0) return 0;
  return firstFrom(lines, section.lastLine + 1) - firstFrom(lines, section.header?.line ?? 0);
}

function firstFrom(lines: readonly number[], line: number): number {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] ?? line) < line) low = middle + 1;
    else high = middle;
  }
  return low;
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
