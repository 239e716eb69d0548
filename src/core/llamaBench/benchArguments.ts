import type { LaunchOptions } from "../launch/launchOptions";

/**
 * llama-bench's arguments for the same model and settings as a llama-server's. It writes lists with other separators
 * (`-ts 3/1`, `-dev a/b`, `-ot x;y`) because a comma means "run both".
 */
export function benchArguments(options: LaunchOptions): readonly string[] {
  return [...modelArguments(options), ...settingArguments(options)];
}

function modelArguments({ model, hfRepo, hfFile }: LaunchOptions): readonly string[] {
  if (model !== undefined) return ["-m", model];
  return [...withFlag("-hf", hfRepo), ...withFlag("-hff", hfFile)];
}

/** What both programs write alike. */
function plainSettings(options: LaunchOptions): readonly string[] {
  return [
    ...withFlag("-b", options.batchSize),
    ...withFlag("-ub", options.ubatchSize),
    ...withFlag("-fa", options.flashAttn),
    ...withFlag("-ctk", options.cacheTypeK),
    ...withFlag("-ctv", options.cacheTypeV),
    ...withFlag("-t", options.threads),
  ];
}

function settingArguments(options: LaunchOptions): readonly string[] {
  const { gpuLayers, kvOffload, opOffload, overrideTensor, tensorSplit, devices } = options;
  return [
    ...plainSettings(options),
    ...withFlag("-ngl", typeof gpuLayers === "number" ? gpuLayers : gpuLayers === "all" ? 999 : undefined),
    ...withFlag("-ncmoe", options.cpuMoe === true ? 999 : options.nCpuMoe),
    ...withFlag("-sm", options.splitMode),
    ...withFlag("-mg", options.mainGpu),
    ...withFlag("-ts", tensorSplit?.join("/")),
    ...withFlag(
      "-dev",
      devices === undefined ? undefined : devices.length === 0 ? "none" : devices.join("/"),
    ),
    ...withFlag("-rpc", options.rpc?.join(",")),
    ...withFlag("-ot", overrideTensor?.map(({ pattern, buffer }) => `${pattern}=${buffer}`).join(";")),
    ...(kvOffload === false ? ["-nkvo", "1"] : []),
    ...(opOffload === false ? ["-nopo", "1"] : []),
  ];
}

/**
 * llama-server's arguments for the same model and the settings that change speed. `context`: tokens of the one slot.
 */
export function serverArguments(options: LaunchOptions, context: number): readonly string[] {
  const { gpuLayers, kvOffload, opOffload, overrideTensor, tensorSplit, devices } = options;
  return [
    ...modelArguments(options),
    ...["-c", String(context), "-np", "1"],
    ...plainSettings(options),
    ...withFlag("-ngl", gpuLayers),
    ...(options.cpuMoe === true ? ["-cmoe"] : withFlag("-ncmoe", options.nCpuMoe)),
    ...withFlag("-sm", options.splitMode),
    ...withFlag("-mg", options.mainGpu),
    ...withFlag("-ts", tensorSplit?.join(",")),
    ...withFlag(
      "-dev",
      devices === undefined ? undefined : devices.length === 0 ? "none" : devices.join(","),
    ),
    ...withFlag("--rpc", options.rpc?.join(",")),
    ...withFlag("-ot", overrideTensor?.map(({ pattern, buffer }) => `${pattern}=${buffer}`).join(",")),
    ...(kvOffload === false ? ["-nkvo"] : []),
    ...(opOffload === false ? ["--no-op-offload"] : []),
  ];
}

function withFlag(flag: string, value: string | number | undefined): readonly string[] {
  return value === undefined || value === "" ? [] : [flag, String(value)];
}

/** The settings that change speed, written the same way for every probe of one setup: a curve's key. */
export function speedFlags(options: LaunchOptions): string {
  const speculative = options.specType === undefined ? [] : ["--spec-type", options.specType.join(",")];
  return [...settingArguments(options), ...speculative].join(" ");
}
