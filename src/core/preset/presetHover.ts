import { optionHelp, presetKeyHelp } from "../launch/optionHelp";
import { optionOfKey, negativeEnv, type ServerOption } from "../launch/serverOptions";
import { say, type Text } from "../text";
import type { Span } from "./presetDocument";
import { sectionEntries, type Preset, type PresetModel } from "./presetModels";
import { placeAt } from "./presetPlaces";
import { ownValue } from "../ownValue";

/** What to show for a place: a title in code type and sentences under it. */
export interface PresetHover {
  readonly span: Span;
  readonly title: string;
  readonly lines: readonly Text[];
  /** The model whose cost belongs below, where the place is a section's header. */
  readonly model?: PresetModel;
}

export function hoverAt(preset: Preset, line: number, character: number): PresetHover | undefined {
  const place = placeAt(preset, line, character);
  if (place.kind === "header" && place.section.header !== undefined) {
    const model = preset.models.find(({ section }) => section === place.section);
    return {
      span: place.section.header,
      title: `[${place.section.name}]`,
      lines: model === undefined ? [say`Values for all models of this file.`] : modelLines(preset, model),
      ...(model === undefined ? {} : { model }),
    };
  }
  if (place.kind !== "key" && place.kind !== "value") return undefined;
  const { key, value } = place.entry;
  const span = place.kind === "key" ? key : value;
  const own = ownValue(presetKeyHelp, key.text);
  if (own !== undefined) return { span, title: key.text, lines: [own] };
  const named = optionOfKey(key.text);
  if (named === undefined) return undefined;
  return { span, title: optionTitle(named.option), lines: optionLines(named.option) };
}

export function optionTitle(option: ServerOption): string {
  const names = [...option.names, ...option.negatives].join(", ");
  return option.hint === undefined ? names : `${names} ${option.hint}`;
}

/** Help, default, variable and age of an option. */
export function optionLines(option: ServerOption): Text[] {
  const help = optionHelp[option.name];
  const lines: Text[] = help === undefined ? [] : [help.text];
  if (option.default !== undefined) lines.push(say`Default: ${option.default}`);
  const negative = negativeEnv(option);
  if (option.env !== undefined) {
    lines.push(
      negative === undefined ? say`Variable: ${option.env}` : say`Variable: ${option.env} (off: ${negative})`,
    );
  }
  if (help?.since !== undefined) lines.push(say`Since build ${`b${help.since}`}`);
  return lines;
}

function modelLines({ defaults }: Preset, { options, section }: PresetModel): Text[] {
  const lines: Text[] = [];
  const model = options.model ?? options.hfRepo ?? options.modelUrl ?? options.dockerRepo;
  if (model !== undefined) lines.push(say`Model: ${model}`);
  const own = new Set(sectionEntries(section).counting.map(({ named }) => named.option.name));
  const inherited =
    defaults === undefined
      ? []
      : sectionEntries(defaults).counting.filter(({ named }) => !own.has(named.option.name));
  if (inherited.length > 0) {
    const list = inherited.map(({ entry }) => `${entry.key.text} = ${entry.value.text}`).join(", ");
    lines.push(say`From [*]: ${list}`);
  }
  return lines;
}
