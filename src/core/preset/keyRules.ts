import { removedOption } from "../causes/startCauses";
import { ClosestNames } from "../launch/closestName";
import { checkValue, falsy, truthy } from "../launch/optionValue";
import { foreignOption } from "../launch/foreignNames";
import { renamedOption } from "../launch/renamedOptions";
import { flagNames, keyNames, optionOfFlag, optionOfKey, type NamedOption } from "../launch/serverOptions";
import { readInteger } from "../launch/cNumbers";
import { say } from "../text";
import { findingAt, removeLine, replaceSpan, type Finding } from "./finding";
import type { PresetEntry, PresetSection } from "./presetDocument";
import { presetOnlyKeys, routerOwned, sectionEntries } from "./presetModels";

/**
 * Findings about the keys and values of one section. `unused` names the entries no model is started with: what is wrong
 * with their values stops nothing.
 */
export function entryFindings(
  section: PresetSection,
  unused: (entry: PresetEntry) => boolean,
  suggestions: ClosestNames,
): Finding[] {
  const { overruled } = sectionEntries(section);
  const harmless = new Set(overruled.map(({ entry }) => entry));
  return [
    ...section.entries.flatMap((entry) => {
      const found = oneEntry(entry, suggestions);
      return harmless.has(entry) || unused(entry) ? found.map(softened) : found;
    }),
    ...overruled.map(({ entry, by }) => {
      const message =
        entry.key.text === by.key.text
          ? say`The same key follows in line ${String(by.line + 1)} and is used instead.`
          : say`${by.key.text} in line ${String(by.line + 1)} sets the same option and is used instead: llama-server sorts keys by name.`;
      return findingAt(
        entry.key,
        "warning",
        "duplicateKey",
        message,
        removeLine(say`Remove the line`, entry.line),
      );
    }),
  ];
}

const badValueCodes: ReadonlySet<string> = new Set(["badValue", "removedOption"]);

function softened(finding: Finding): Finding {
  return finding.severity === "error" && badValueCodes.has(finding.code)
    ? { ...finding, severity: "warning" }
    : finding;
}

function oneEntry(entry: PresetEntry, suggestions: ClosestNames): Finding[] {
  const key = entry.key.text;
  if (key === "version") return [];
  if (presetOnlyKeys.includes(key)) return presetOnly(entry);
  const named = optionOfKey(key);
  if (named === undefined) return [unknownKey(entry, suggestions)];
  const { option } = named;
  const found: Finding[] = [];
  if (option.value.kind === "two") {
    const message = say`An option with two values is not allowed in a preset.`;
    return [findingAt(entry.key, "error", "twoValues", message)];
  }
  if (option.value.kind === "removed") return [removedKey(entry)];
  if (routerOwned.has(option.name)) {
    const message = say`The router ignores this in a preset; set it on the router's own command line.`;
    found.push(
      findingAt(entry.key, "warning", "routerOwned", message, removeLine(say`Remove the line`, entry.line)),
    );
  } else if (option.name === "--host" || option.name === "--port") {
    const message = say`The router chooses the address of each model's server itself.`;
    found.push(
      findingAt(entry.key, "warning", "routerOwned", message, removeLine(say`Remove the line`, entry.line)),
    );
  }
  if (option.secret && entry.value.text !== "") {
    const message = routerOwned.has(option.name)
      ? say`A secret in a file. Use the environment variable ${option.env ?? ""} of the router.`
      : say`A secret in a file, which also appears on the command line of the model's server. Use the environment variable ${option.env ?? ""}.`;
    found.push(findingAt(entry.value, "warning", "secretInFile", message));
  }
  if (["--usage", "--version", "--cache-list", "--completion-bash", "--list-devices"].includes(option.name)) {
    const message = say`With this the model's server prints something and exits instead of serving.`;
    found.push(
      findingAt(entry.key, "warning", "exitsAtOnce", message, removeLine(say`Remove the line`, entry.line)),
    );
  }
  return [...found, ...valueFindings(entry, named)];
}

function valueFindings(entry: PresetEntry, named: NamedOption): Finding[] {
  const { option } = named;
  const ignored = routerOwned.has(option.name) || option.name === "--host" || option.name === "--port";
  if (ignored) return [];
  return [...cutValue(entry, named), ...checkedValue(entry, named)];
}

/** Letters of --sampler-seq, by the names that --samplers takes. */
const samplerLetters: Readonly<Record<string, string>> = {
  penalties: "e",
  dry: "d",
  top_n_sigma: "s",
  top_k: "k",
  typ_p: "y",
  top_p: "p",
  min_p: "m",
  xtc: "x",
  temperature: "t",
  infill: "i",
  adaptive_p: "a",
};

/** A comment that nothing separates from the value was meant to belong to it: nothing can be quoted in a preset. */
function cutValue({ key, value, cut }: PresetEntry, { option }: NamedOption): Finding[] {
  if (cut === undefined) return [];
  const mark = cut.charAt(0);
  const message = say`llama-server reads only "${value.text}": ${mark} begins a comment here.`;
  const names = `${value.text}${cut}`.split(";").map((name) => name.trim());
  const letters = names.map((name) =>
    Object.hasOwn(samplerLetters, name) ? samplerLetters[name] : undefined,
  );
  if (option.name !== "--samplers" || letters.includes(undefined)) {
    return [findingAt(value, "warning", "valueCut", message)];
  }
  const line = `sampler-seq = ${letters.join("")}`;
  const whole = { ...key, end: value.end + cut.length };
  return [findingAt(value, "warning", "valueCut", message, replaceSpan(say`Write ${line}`, whole, line))];
}

function checkedValue(entry: PresetEntry, named: NamedOption): Finding[] {
  const { option } = named;
  const { value, key } = entry;
  if (option.value.kind === "flag") return [...switchValue(entry, named), ...negativeVariable(entry, named)];
  const problem = checkValue(option.value, value.text);
  if (problem === undefined) return [];
  const span = value.text === "" ? key : value;
  const message = value.text === "" ? say`${key.text} needs a value.` : problem.message;
  return [findingAt(span, problem.severity, problem.code, message)];
}

function switchValue({ key, value }: PresetEntry, { option }: NamedOption): Finding[] {
  if (truthy.includes(value.text)) return [];
  if (falsy.includes(value.text)) {
    if (option.negatives.length > 0) return [];
    const message = say`${option.name} has no negative form: with off, it stays as it is without this line.`;
    return [findingAt(key, "information", "droppedSwitch", message)];
  }
  const span = value.text === "" ? key : value;
  const message = say`Neither on nor off: llama-server treats any other word as on.`;
  const fix = value.text === "" ? undefined : replaceSpan(say`Write on`, value, "on");
  return [findingAt(span, "warning", "oddSwitch", message, fix)];
}

/** LLAMA_ARG_NO_… as a key does not turn the value round, other than as a variable. */
function negativeVariable({ key, value }: PresetEntry, { option }: NamedOption): Finding[] {
  if (!/^LLAMA_ARG_NO_/.test(key.text) || option.env === key.text || falsy.includes(value.text)) return [];
  const message = say`In a preset, this key switches ${option.name} on, not off.`;
  const negative = option.negatives.at(-1)?.replace(/^-+/, "") ?? "";
  return [
    findingAt(
      key,
      "warning",
      "negativeVariable",
      message,
      replaceSpan(say`Write ${negative}`, key, negative),
    ),
  ];
}

export const keySuggestions = (): ClosestNames =>
  new ClosestNames((key) => (key.startsWith("LLAMA") ? keyNames : flagNames));

function unknownKey({ key, value }: PresetEntry, suggestions: ClosestNames): Finding {
  const old = renamedOption(`--${key.text}`) ?? renamedOption(`-${key.text}`);
  const [flag, fixed] = old?.instead ?? [];
  if (old !== undefined && flag !== undefined) {
    const newText = `${flag.replace(/^-+/, "")} = ${fixed ?? value.text}`;
    const whole = { ...key, end: Math.max(key.end, value.end) };
    const message = say`llama-server no longer knows ${key.text}; write ${newText}.`;
    return findingAt(key, "error", "renamedKey", message, replaceSpan(say`Write ${newText}`, whole, newText));
  }
  const dashed = optionOfFlag(`--${key.text}`) === undefined ? undefined : key.text.replaceAll("_", "-");
  const lower = optionOfKey(key.text.toLowerCase()) === undefined ? undefined : key.text.toLowerCase();
  const close = dashed ?? lower ?? foreignOption(key.text) ?? suggestions.of(key.text)?.replace(/^-+/, "");
  if (close === undefined) {
    return findingAt(key, "error", "unknownKey", say`llama-server does not know the option ${key.text}.`);
  }
  const message = say`llama-server does not know the option ${key.text}; did you mean ${close}?`;
  return findingAt(key, "error", "unknownKey", message, replaceSpan(say`Change to ${close}`, key, close));
}

function removedKey({ key, value }: PresetEntry): Finding {
  const named = optionOfKey(key.text);
  const old = named?.option.names.map(renamedOption).find((option) => option !== undefined);
  const instead = old?.instead[0]?.replace(/^-+/, "");
  if (instead === undefined) return findingAt(key, "error", "removedOption", removedOption(key.text));
  const message = removedOption(key.text, `${instead} = ${value.text}`);
  return findingAt(
    key,
    "error",
    "removedOption",
    message,
    replaceSpan(say`Change to ${instead}`, key, instead),
  );
}

function presetOnly({ key, value }: PresetEntry): Finding[] {
  if (key.text === "load-on-startup" && !truthy.includes(value.text) && !falsy.includes(value.text)) {
    const message = say`Neither on nor off: the model is not loaded at startup.`;
    return [findingAt(value.text === "" ? key : value, "warning", "oddSwitch", message)];
  }
  if (key.text === "stop-timeout" && !readInteger(value.text).ok) {
    const message = say`Not a number of seconds: llama-server uses 10.`;
    return [findingAt(value.text === "" ? key : value, "warning", "badSeconds", message)];
  }
  return [];
}
