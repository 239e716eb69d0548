import { commentStart, type PresetEntry, type PresetSection } from "./presetDocument";
import { entryInLine, type Preset } from "./presetModels";

/** What stands at a place of a preset. Line and character from 0, as editors count. */
export type Place =
  | { readonly kind: "key"; readonly entry: PresetEntry; readonly section: PresetSection }
  | { readonly kind: "value"; readonly entry: PresetEntry; readonly section: PresetSection }
  | { readonly kind: "header"; readonly section: PresetSection }
  /** A key being typed: `prefix` begins at `start`. */
  | {
      readonly kind: "newKey";
      readonly section: PresetSection | undefined;
      readonly prefix: string;
      readonly start: number;
    }
  | { readonly kind: "comment" }
  | { readonly kind: "nothing" };

/** The section a line belongs to. */
export function sectionAt({ document }: Preset, line: number): PresetSection | undefined {
  let [low, high] = [0, document.sections.length - 1];
  let found: PresetSection | undefined;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const section = document.sections[middle];
    if (section === undefined) break;
    const first = section.header?.line ?? 0;
    if (first <= line) {
      found = section;
      low = middle + 1;
    } else high = middle - 1;
  }
  return found;
}

export function placeAt(preset: Preset, line: number, character: number): Place {
  const text = preset.document.lines[line] ?? "";
  const section = sectionAt(preset, line);
  if (character > commentStart(text, 0)) return { kind: "comment" };
  if (section?.header?.line === line) return { kind: "header", section };
  const entry = section && entryInLine(section, line);
  if (section !== undefined && entry !== undefined) {
    if (character <= entry.key.end) return { kind: "key", entry, section };
    if (character > text.indexOf("=", entry.key.end)) return { kind: "value", entry, section };
    return { kind: "nothing" };
  }
  const typed = /^\s*(-*[A-Za-z_][\w.-]*|-*)$/.exec(text.slice(0, character));
  if (typed === null) return { kind: "nothing" };
  const prefix = typed[1] ?? "";
  return { kind: "newKey", section, prefix, start: character - prefix.length };
}
