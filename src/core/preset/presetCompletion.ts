import { optionHelp, presetKeyHelp } from "../launch/optionHelp";
import type { ValueKind } from "../launch/optionValue";
import { serverOptions, type ServerOption } from "../launch/serverOptions";
import { optionOfKey } from "../launch/serverOptions";
import { say, type Text } from "../text";
import type { Preset } from "./presetModels";
import { presetOnlyKeys, routerOwned, sectionEntries } from "./presetModels";
import { placeAt } from "./presetPlaces";
import { ownValue } from "../ownValue";

/** One thing that can be written at a place; it replaces the columns from `start` to `end` (from 0). */
export interface Completion {
  readonly label: string;
  readonly kind: "key" | "value" | "file" | "section";
  readonly insertText: string;
  readonly start: number;
  readonly end: number;
  readonly detail?: string;
  readonly help?: Text;
  /** Lower comes first. */
  readonly order: number;
  /** Ask for values again after inserting. */
  readonly continues: boolean;
}

/** What the outside offers: GGUF files for a path as far as it is typed, repositories in caches, section names. */
export interface CompletionSources {
  readonly files?: (typed: string) => readonly string[];
  readonly repositories?: () => readonly string[];
}

export function completionsAt(
  preset: Preset,
  line: number,
  character: number,
  sources: CompletionSources = {},
): Completion[] {
  const place = placeAt(preset, line, character);
  const text = preset.document.lines[line] ?? "";
  switch (place.kind) {
    case "newKey": {
      const used = new Set(
        place.section === undefined
          ? []
          : sectionEntries(place.section).counting.map(({ named }) => named.option.name),
      );
      const keys = serverOptions.flatMap((option) =>
        used.has(option.name) ? [] : keyOf(option, place.prefix),
      );
      const own = presetOnlyKeys.map((name) => ({ name, insert: `${name} = `, option: undefined, order: 3 }));
      return [...keys, ...own].map(({ name, insert, option, order }) => ({
        label: name,
        kind: "key",
        insertText: insert,
        start: place.start,
        end: character,
        ...detailOf(option),
        ...helpOf(name, option),
        order,
        continues: true,
      }));
    }
    case "key": {
      const named = optionOfKey(place.entry.key.text);
      return serverOptions
        .flatMap((option) => (option === named?.option ? [] : keyOf(option, place.entry.key.text)))
        .map(({ name, option, order }) => ({
          label: name,
          kind: "key",
          insertText: name,
          start: place.entry.key.start,
          end: place.entry.key.end,
          ...detailOf(option),
          ...helpOf(name, option),
          order,
          continues: false,
        }));
    }
    case "value": {
      const option = optionOfKey(place.entry.key.text)?.option;
      const { start, end } = place.entry.value;
      const typed = text.slice(start, Math.max(start, character));
      const from = Math.min(start, character);
      return valuesOf(option, place.entry.key.text, typed, sources).map(({ value, kind, help }, index) => ({
        label: value,
        kind,
        insertText: from === start && text[start - 1] === "=" ? ` ${value}` : value,
        start: from,
        end: Math.max(end, character),
        ...(value === option?.default ? { detail: "default" } : {}),
        ...(help === undefined ? {} : { help }),
        order: index,
        continues: false,
      }));
    }
    case "header": {
      const { header } = place.section;
      if (header === undefined || preset.defaults !== undefined) return [];
      return [
        {
          label: "*",
          kind: "section",
          insertText: "*",
          start: header.start,
          end: header.end,
          help: say`Values for all models.`,
          order: 0,
          continues: false,
        },
      ];
    }
    case "comment":
    case "nothing":
      return [];
  }
}

interface KeyChoice {
  readonly name: string;
  readonly insert: string;
  readonly option: ServerOption | undefined;
  readonly order: number;
}

/** The long name, or the name in the form the user began to type: short, negative or as a variable. */
function keyOf(option: ServerOption, prefix: string): KeyChoice[] {
  if (option.value.kind === "removed" || option.value.kind === "two" || routerOwned.has(option.name))
    return [];
  if (["--usage", "--version", "--cache-list", "--completion-bash", "--list-devices"].includes(option.name))
    return [];
  const bare = (flag: string): string => flag.replace(/^-+/, "");
  const typed = bare(prefix);
  const long = bare(option.name);
  const names = new Set([long]);
  if (/^no/.test(typed))
    for (const negative of option.negatives) if (negative.startsWith("--")) names.add(bare(negative));
  if (/^[A-Z]/.test(typed) && option.env !== undefined) names.add(option.env);
  for (const name of option.names) if (bare(name) === typed) names.add(typed);
  const order = option.effect !== undefined ? 0 : optionHelp[option.name] !== undefined ? 1 : 2;
  return [...names].map((name) => ({ name, insert: `${name} = `, option, order }));
}

function detailOf(option: ServerOption | undefined): { detail?: string } {
  if (option === undefined) return {};
  const short = option.names.filter((name) => name !== option.name).join(" ");
  const detail = [option.hint, short].filter((part) => part !== undefined && part !== "").join("  ");
  return detail === "" ? {} : { detail };
}

function helpOf(name: string, option: ServerOption | undefined): { help?: Text } {
  const text = option === undefined ? ownValue(presetKeyHelp, name) : optionHelp[option.name]?.text;
  return text === undefined ? {} : { help: text };
}

interface ValueChoice {
  readonly value: string;
  readonly kind: "value" | "file";
  readonly help?: Text;
}

/** Their values are repositories on Hugging Face. */
export const repositoryOptions: ReadonlySet<string> = new Set(["--hf-repo", "--hf-repo-draft"]);

const bytesPerElement: Readonly<Record<string, string>> = {
  f32: "4",
  f16: "2",
  bf16: "2",
  q8_0: "1.0625",
  q5_1: "0.75",
  q5_0: "0.6875",
  q4_1: "0.625",
  q4_0: "0.5625",
  iq4_nl: "0.5625",
};

function valuesOf(
  option: ServerOption | undefined,
  key: string,
  typed: string,
  sources: CompletionSources,
): ValueChoice[] {
  const values = (list: readonly string[]): ValueChoice[] => list.map((value) => ({ value, kind: "value" }));
  if (option === undefined) return key === "load-on-startup" ? values(["on", "off"]) : [];
  if (repositoryOptions.has(option.name)) {
    return values(sources.repositories?.() ?? []);
  }
  if (option.name.startsWith("--cache-type-")) {
    return kindValues(option.value).map((value) => ({
      value,
      kind: "value",
      help: say`${bytesPerElement[value] ?? ""} bytes per element.`,
    }));
  }
  if (option.value.kind === "path") {
    return (sources.files?.(typed) ?? []).map((value) => ({ value, kind: "file" }));
  }
  return values(option.name === "--ctx-size" ? contextSizes : kindValues(option.value));
}

const contextSizes = ["8192", "16384", "32768", "65536", "131072", "262144", "0"];

function kindValues(kind: ValueKind): readonly string[] {
  switch (kind.kind) {
    case "choice":
    case "choices":
      return kind.choices;
    case "switch":
      return kind.auto ? ["on", "off", "auto"] : ["on", "off"];
    case "flag":
      return ["on", "off"];
    case "layers":
      return ["auto", "all", "0", "99"];
    default:
      return [];
  }
}
