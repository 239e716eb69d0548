import { serverDefaults, type LaunchOptions } from "../launch/launchOptions";
import { say } from "../text";
import { UserError } from "../userError";
import { variedOptions, type VariedOption } from "./comparisonArms";

/** What is set today, option by option, on the setup a comparison starts from. */
export interface ComparisonSetup {
  /** Name of the model for people. */
  readonly model: string;
  readonly values: Readonly<Record<VariedOption["option"], string>>;
}

/** Values of the options that are varied, and of them alone. */
export type ComparedSettings = Readonly<Partial<Record<VariedOption["option"], string>>>;

/** What is compared with what, and where. */
export interface ComparisonChoice {
  /** Values of everything that one of the others varies. */
  readonly baseline: ComparedSettings;
  readonly others: readonly ComparedSettings[];
  /** Tokens that are already in the cache. */
  readonly depths: readonly number[];
}

/** Options of `settings` in one order. */
export const optionsOf = (settings: ComparedSettings): readonly VariedOption[] =>
  variedOptions.filter(({ option }) => settings[option] !== undefined);

/** As llama.cpp's arguments: `-ctk q8_0 -ctv q8_0`. */
export const settingsText = (settings: ComparedSettings): string =>
  optionsOf(settings)
    .map(({ option, flag }) => `${flag} ${settings[option] ?? ""}`)
    .join(" ");

/** One of the others beside the baseline: the flags that differ, and the values of both. */
export function pairOf(
  baseline: ComparedSettings,
  other: ComparedSettings,
): { readonly option: string; readonly values: readonly [baseline: string, other: string] } {
  const options = optionsOf(other);
  const valuesOf = (settings: ComparedSettings): string =>
    options.map(({ option }) => settings[option] ?? "").join(" ");
  return {
    option: options.map(({ flag }) => flag).join(" "),
    values: [valuesOf(baseline), valuesOf(other)],
  };
}

/**
 * The choice between today's values and others.
 * @throws UserError where an option is the same in both or has no value today
 */
export function comparisonChoice(
  { values }: Pick<ComparisonSetup, "values">,
  others: readonly ComparedSettings[],
  depths: readonly number[],
): ComparisonChoice {
  const varied = variedOptions.filter(({ option }) => others.some((other) => other[option] !== undefined));
  for (const other of others) {
    const same = optionsOf(other).find(({ option }) => other[option] === values[option]);
    if (same === undefined && optionsOf(other).length > 0) continue;
    throw new UserError(
      "invalidInput",
      same === undefined
        ? say`There is nothing to compare.`
        : say`${settingsText({ [same.option]: values[same.option] })} is what is set already.`,
      say`Name other values of -ctk, -ctv, -fa, -ub, -b or -t.`,
    );
  }
  const unset = varied.find(({ option }) => values[option] === "");
  if (unset !== undefined) {
    throw new UserError(
      "invalidInput",
      say`What ${unset.flag} is set to today is not known.`,
      say`Give it a value, then compare it with another one.`,
    );
  }
  return {
    baseline: Object.fromEntries(varied.map(({ option }) => [option, values[option]])),
    others,
    depths: [...new Set(depths)].sort((p, q) => p - q),
  };
}

/** llama.cpp's defaults where nothing was given. */
export function comparisonSetup(launch: LaunchOptions): ComparisonSetup {
  const { model, hfRepo, cacheTypeK, cacheTypeV, flashAttn, ubatchSize, batchSize, threads } = launch;
  return {
    model: (model ?? hfRepo ?? "").split(/[\\/]/).at(-1) ?? "",
    values: {
      cacheTypeK: cacheTypeK ?? serverDefaults.cacheType,
      cacheTypeV: cacheTypeV ?? serverDefaults.cacheType,
      flashAttn: flashAttn === undefined || flashAttn === "auto" ? "on" : flashAttn,
      ubatchSize: String(ubatchSize ?? serverDefaults.ubatchSize),
      batchSize: String(batchSize ?? serverDefaults.batchSize),
      threads: String(threads ?? ""),
    },
  };
}
