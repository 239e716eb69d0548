import { say } from "../text";
import { sectionEntries, type Preset } from "./presetModels";
import { findingAt, replaceSpan, type Finding } from "./finding";
import type { PresetSection, Span } from "./presetDocument";

/** Options that name the model of a section. */
const modelNames: ReadonlySet<string> = new Set(["--model", "--model-url", "--hf-repo", "--docker-repo"]);

/** Findings about sections as a whole: names, doubles, models, aliases. */
export function sectionFindings({ document, sections: effective }: Preset): Finding[] {
  return [
    ...document.sections.flatMap((section) => {
      const later = effective.get(section.name);
      return later !== undefined && later !== section && section.header !== undefined
        ? [forgotten(section.header, later)]
        : [];
    }),
    ...[...effective.values()].flatMap((section) => [...placement(section), ...modelOf(section, effective)]),
    ...aliasConflicts(effective),
  ];
}

function forgotten(header: Span, later: PresetSection): Finding {
  const line = String((later.header?.line ?? 0) + 1);
  const message = say`The section ${header.text} appears again in line ${line}; this one is discarded with all its keys.`;
  return findingAt(header, "warning", "duplicateSection", message);
}

function placement(section: PresetSection): Finding[] {
  const found: Finding[] = [];
  const { header } = section;
  const first = section.entries.find((entry) => entry.key.text !== "version");
  if (header === undefined && first !== undefined) {
    const message = say`Keys above the first section belong to a model called default; values for all models go into [*].`;
    found.push(findingAt(first.key, "warning", "keysBeforeSection", message));
  }
  if (header !== undefined && /[ \t]$/.test(header.text)) {
    const trimmed = header.text.trimEnd();
    const message = say`The space before the bracket becomes part of the model's name.`;
    const fix = replaceSpan(say`Remove the space`, header, trimmed);
    found.push(findingAt(header, "warning", "blankInName", message, fix));
  }
  return found;
}

function modelOf(section: PresetSection, all: ReadonlyMap<string, PresetSection>): Finding[] {
  const { header } = section;
  if (header === undefined || section.name === "*") return [];
  const names = (of: PresetSection | undefined): boolean =>
    of !== undefined &&
    sectionEntries(of).counting.some(
      ({ named }) => modelNames.has(named.option.name) || /-(default|spec)$/.test(named.option.name),
    );
  if (names(section) || names(all.get("*"))) return [];
  const message = say`No model is specified; this works only if the router finds a model called ${section.name} in its cache or models folder.`;
  return [findingAt(header, "warning", "noModel", message)];
}

// server-models.cpp refuses to start when an alias is another model's name or alias
function aliasConflicts(all: ReadonlyMap<string, PresetSection>): Finding[] {
  const owners = new Map<string, string>();
  const found: Finding[] = [];
  for (const name of all.keys()) if (name !== "*") owners.set(name, name);
  for (const section of all.values()) {
    if (section.name === "*") continue;
    for (const { entry, named } of sectionEntries(section).counting) {
      if (named.option.name !== "--alias") continue;
      for (const alias of entry.value.text.split(",").map((part) => part.trim())) {
        const owner = owners.get(alias);
        if (alias === "") continue;
        if (owner === undefined || owner === section.name) owners.set(alias, section.name);
        else {
          const message = say`${alias} is already a name of ${owner}: llama-server does not start.`;
          found.push(findingAt(entry.value, "error", "aliasConflict", message));
        }
      }
    }
  }
  return found;
}
