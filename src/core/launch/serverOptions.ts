import { optionEffects, type OptionEffect } from "./optionEffects";
import { optionKinds } from "./optionKinds";
import { optionRows } from "./optionRows";
import type { ValueKind } from "./optionValue";

export type OptionSection = "common" | "sampling" | "speculative" | "server";

/** One option of llama-server. Names carry their dashes; the last of `names` is the main one. */
export interface ServerOption {
  readonly name: string;
  readonly names: readonly string[];
  /** Forms that switch it off, e.g. `--no-repack`. */
  readonly negatives: readonly string[];
  readonly section: OptionSection;
  /** llama-server's placeholder for the value; absent for switches. */
  readonly hint?: string;
  readonly value: ValueKind;
  /** As `--help` prints it. */
  readonly default?: string;
  readonly env?: string;
  readonly effect?: OptionEffect;
  readonly secret: boolean;
}

/** How an option was named: its negative form switches it off. */
export interface NamedOption {
  readonly option: ServerOption;
  readonly negative: boolean;
}

const secrets: ReadonlySet<string> = new Set(["--api-key", "--hf-token"]);

function readRow(row: string): ServerOption {
  const [section = "", names = "", negatives = "", hint = "", kind = "", fallback = "", env = ""] = row
    .split(" | ")
    .map((field) => (field === "-" ? "" : field));
  const all = names.split(" ");
  const name = all.at(-1) ?? names;
  const effect = optionEffects[name];
  return {
    name,
    names: all,
    negatives: negatives === "" ? [] : negatives.split(" "),
    section: section as OptionSection,
    ...(hint === "" ? {} : { hint }),
    value: optionKinds[name] ?? kindOf(kind),
    ...(fallback === "" ? {} : { default: fallback }),
    ...(env === "" ? {} : { env }),
    ...(effect === undefined ? {} : { effect }),
    secret: secrets.has(name),
  };
}

function kindOf(kind: string): ValueKind {
  switch (kind) {
    case "integer":
      return { kind: "integer" };
    case "integer>=0":
      return { kind: "integer", min: 0 };
    case "integer>0":
      return { kind: "integer", min: 1 };
    case "number":
      return { kind: "number" };
    case "number>=0":
      return { kind: "number", min: 0 };
    case "number>0":
      return { kind: "number", above: 0 };
    case "unsigned":
      return { kind: "unsigned" };
    case "flag":
      return { kind: "flag" };
    case "removed":
      return { kind: "removed" };
    case "two":
      return { kind: "two" };
    default:
      return { kind: "text" };
  }
}

/** All options, in the order of `llama-server --help`. */
export const serverOptions: readonly ServerOption[] = optionRows.trim().split("\n").map(readRow);

/** What a negative variable is called: `LLAMA_ARG_NO_…`. */
export function negativeEnv(option: ServerOption): string | undefined {
  return option.negatives.length > 0 ? option.env?.replace("LLAMA_ARG_", "LLAMA_ARG_NO_") : undefined;
}

const byFlag = new Map<string, NamedOption>();
const byKey = new Map<string, NamedOption>();
for (const option of serverOptions) {
  const forms = [
    ...option.names.map((flag) => ({ flag, negative: false })),
    ...option.negatives.map((flag) => ({ flag, negative: true })),
  ];
  // a preset takes the negative variable for the plain option: only a negative name turns the value round
  for (const env of [option.env, negativeEnv(option)]) {
    if (env !== undefined) byKey.set(env, { option, negative: false });
  }
  for (const { flag, negative } of forms) {
    byFlag.set(flag, { option, negative });
    byKey.set(flag.replace(/^-+/, ""), { option, negative });
  }
}

/** The option a word of a command line names; `_` counts as `-` in long names. */
export function optionOfFlag(word: string): NamedOption | undefined {
  return byFlag.get(normalFlag(word));
}

export function normalFlag(word: string): string {
  return word.startsWith("--") ? word.replaceAll("_", "-") : word;
}

/** The option a key of a preset names: a name without its dashes, or an environment variable. */
export function optionOfKey(key: string): NamedOption | undefined {
  return byKey.get(key);
}

/** Every name a command line may use, and every key a preset may use. */
export const flagNames: readonly string[] = [...byFlag.keys()];
export const keyNames: readonly string[] = [...byKey.keys()];
