import { changedOptions, changeFlags, type LaunchChange } from "../launch/launchChange";
import { optionOfFlag } from "../launch/serverOptions";
import type { LineEdit } from "./presetEdits";
import { sectionEntries, type Preset } from "./presetModels";
import { largest } from "../lists";

/**
 * Makes a change in a section: the value of a key that is there, under whatever name, else a new line at its end. `[*]`
 * and other sections stay as they are. Nothing where there is no such section.
 */
export function changeEdits({ document, sections }: Preset, name: string, change: LaunchChange): LineEdit[] {
  const section = sections.get(name);
  if (section === undefined) return [];
  const { counting } = sectionEntries(section);
  const edits: LineEdit[] = [];
  const added: string[] = [];
  for (const [field, value] of changedOptions(change)) {
    const option = optionOfFlag(changeFlags[field][1])?.option;
    const entry = counting.find(({ named }) => named.option === option)?.entry;
    if (entry === undefined) added.push(`${changeFlags[field][1].replace(/^-+/, "")} = ${value}`);
    else if (entry.value.text !== value) {
      const { line, start, end } = entry.value;
      const blank = document.lines[line]?.[start - 1] === "=" ? " " : "";
      edits.push({ line, start, end, newText: `${blank}${value}` });
    }
  }
  if (added.length === 0) return edits;
  const last = largest(
    section.entries.map(({ line }) => line),
    section.header?.line ?? 0,
  );
  const end = document.lines[last]?.length ?? 0;
  const lines = added.map((line) => `\n${line}`).join("");
  // one edit for one place: the last key may be changed itself
  const there = edits.find((edit) => edit.line === last && edit.end === end);
  if (there === undefined) return [...edits, { line: last, start: end, end, newText: lines }];
  return edits.map((edit) => (edit === there ? { ...edit, newText: edit.newText + lines } : edit));
}
