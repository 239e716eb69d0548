import type { CurveKey } from "../prefill/depthCurve";
import { sameBuild } from "../launch/builds";
import { append } from "../lists";
import { say, type Text } from "../text";
import { ownValue } from "../ownValue";

/** llama-bench's own names for the options that change speed. */
const benchNames: Readonly<Record<string, string>> = {
  n_batch: "-b",
  n_ubatch: "-ub",
  type_k: "-ctk",
  type_v: "-ctv",
  flash_attn: "-fa",
  n_threads: "-t",
  n_gpu_layers: "-ngl",
  n_cpu_moe: "-ncmoe",
  split_mode: "-sm",
  main_gpu: "-mg",
  tensor_split: "-ts",
  devices: "-dev",
  tensor_buft_overrides: "-ot",
  no_kv_offload: "-nkvo",
  no_op_offload: "-nopo",
};

/** What both programs do where nothing is given. `-fa auto` turns it on wherever a backend has it. */
const defaults: Readonly<Record<string, RegExp>> = {
  "-b": /^2048$/,
  "-ub": /^512$/,
  "-ctk": /^f16$/,
  "-ctv": /^f16$/,
  "-fa": /^(auto|on|1|-1|true)$/,
  "-ngl": /^(auto|all|-1|99|[1-9]\d{2,})$/,
  "-ncmoe": /^0$/,
  "-sm": /^layer$/,
  "-mg": /^0$/,
  "-ts": /^[0./]*$/,
  "-dev": /^auto$/,
  "-ot": /^none$/,
  "-nkvo": /^(0|false)$/,
  "-nopo": /^(0|false)$/,
};

/** The options that differ from the defaults; words that are no option stand under the empty name. */
export type SpeedSetup = ReadonlyMap<string, string>;

/** Reads `speedFlags`, and the settings of a llama-bench row (`type_k=q8_0 n_batch=2048`). */
export function speedSetup(flags: string): SpeedSetup {
  const setup = new Map<string, string>();
  const words = flags.split(" ").filter((word) => word !== "");
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    const [name = "", value] = word.includes("=") && !word.startsWith("-") ? word.split(/=(.*)/s) : [word];
    if (value !== undefined) {
      const option = ownValue(benchNames, name);
      if (option !== undefined) add(setup, option, value);
    } else if (/^--?[a-z]/.test(name)) {
      add(setup, name, words[i + 1] ?? "");
      i++;
    } else setup.set("", [setup.get(""), name].filter(Boolean).join(" "));
  }
  return setup;
}

function add(setup: Map<string, string>, option: string, value: string): void {
  const on = value === "1" || value === "true";
  const off = value === "0" || value === "false";
  const plain = option === "-fa" && off ? "off" : option === "-nkvo" && on ? "1" : value;
  if (defaults[option]?.test(plain) !== true) setup.set(option, plain);
}

/** The same for every way to write the same setup. */
export const canonicalFlags = (flags: string): string =>
  [...speedSetup(flags)]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([option, value]) => [option, value])
    .filter((word) => word !== "")
    .join(" ");

export const sameFlags = (one: string, other: string): boolean =>
  one === other || canonicalFlags(one) === canonicalFlags(other);

/** Whether a curve was measured on a setup. */
export interface SetupComparison {
  /** What it was measured with instead, each in a few words. */
  readonly differs: readonly Text[];
  /** What the curve does not tell. */
  readonly untold: readonly Text[];
}

export function compareSetup(curve: CurveKey, setup: CurveKey): SetupComparison {
  const untold: ReadonlySet<string> = new Set(curve.untold);
  const differs: Text[] = [];
  if (!untold.has("model") && !sameModel(curve.model, setup.model)) {
    differs.push(say`${nameOf(curve.model)} instead of ${nameOf(setup.model)}`);
  }
  if (
    !untold.has("build") &&
    curve.build !== "" &&
    setup.build !== "" &&
    !sameBuild(curve.build, setup.build)
  ) {
    differs.push(say`build ${curve.build} instead of ${setup.build}`);
  }
  if (!untold.has("flags"))
    append(differs, differentOptions(speedSetup(curve.flags), speedSetup(setup.flags)));
  return {
    differs,
    untold: [
      ...(untold.has("model") ? [say`model`] : []),
      ...(curve.build === "" ? [say`build`] : []),
      ...(untold.has("flags") ? [say`options`] : []),
    ],
  };
}

function differentOptions(curve: SpeedSetup, setup: SpeedSetup): readonly Text[] {
  const options = [...new Set([...curve.keys(), ...setup.keys()])];
  return options.flatMap((option): Text[] => {
    const [theirs, ours] = [curve.get(option), setup.get(option)];
    // how many threads there are by default is the machine's affair
    if (theirs === ours || (option === "-t" && (theirs === undefined || ours === undefined))) return [];
    const name = option === "" ? say`options` : option;
    return [
      ours === undefined
        ? say`${name} ${theirs ?? ""} instead of the default`
        : say`${name} ${theirs ?? say`by default`} instead of ${ours}`,
    ];
  });
}

export const sameModel = (one: string, other: string): boolean =>
  nameOf(one).toLowerCase() === nameOf(other).toLowerCase();

const nameOf = (model: string): string =>
  (model.split(/[\\/]/).at(-1) ?? model).replace(/\.gguf$/i, "").replace(/-00001-of-\d{5}$/, "");

/** A curve's own options as those of a setup are written; threads only where the setup tells them, too. */
export function flagsLike(flags: string, setup: string): string {
  const own = new Map(speedSetup(flags));
  if (!speedSetup(setup).has("-t")) own.delete("-t");
  return [...own].flatMap(([option, value]) => [option, value]).join(" ");
}
