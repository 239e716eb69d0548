import { LaunchBuilder } from "../launch/launchBuilder";
import type { LaunchOptions } from "../launch/launchOptions";
import { checkValue } from "../launch/optionValue";
import { parsePreset, type PresetSection } from "./presetDocument";
import { sectionEntries, switchIsOn } from "./presetModels";

/** A `config.ini` that every program of llama.cpp reads. */
export interface SystemConfig {
  readonly file: string;
  readonly text: string;
}

/**
 * What the files set, the later over the earlier, below variables and command line. In each `[*]` counts, and over it the
 * keys above any section, or below `[default]`; other sections are for nobody (common/arg.cpp; tried on build 11669).
 */
export function configOptions(configs: readonly SystemConfig[]): LaunchOptions {
  const builder = new LaunchBuilder();
  for (const { file, text } of configs) {
    const { sections } = parsePreset(text);
    const common = sections.findLast(({ name }) => name === "*");
    const own = sections.filter(({ name }) => name === "default");
    for (const section of common === undefined ? own : [common, ...own]) add(builder, file, section);
  }
  return builder.result().options;
}

function add(builder: LaunchBuilder, file: string, section: PresetSection): void {
  for (const { entry, named } of sectionEntries(section).counting) {
    const { option } = named;
    const value = entry.value.text;
    const origin = { kind: "config", file, key: entry.key.text } as const;
    if (option.value.kind === "flag") {
      const on = switchIsOn(named, value);
      if (on || option.negatives.length > 0) builder.add(option, "", on, origin);
    } else if (checkValue(option.value, value)?.severity !== "error") {
      builder.add(option, value, true, origin);
    }
  }
}
