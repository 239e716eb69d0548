import { serverDefaults, type LaunchOptions } from "../launch/launchOptions";
import type { VariedOption } from "./comparisonArms";

/** What is set today, option by option, on the setup a comparison starts from. */
export interface ComparisonSetup {
  /** Name of the model for people. */
  readonly model: string;
  readonly values: Readonly<Record<VariedOption["option"], string>>;
}

export interface ComparisonChoice {
  readonly varied: VariedOption;
  readonly values: readonly [baseline: string, other: string];
  readonly depth: number;
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
