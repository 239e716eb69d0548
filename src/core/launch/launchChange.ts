import { cacheTypes } from "../model/ggmlTypes";
import type { FlashAttn, LaunchOptions } from "./launchOptions";
import { optionOfFlag } from "./serverOptions";
import { append } from "../lists";

/** The launch options a reader may try, under LaunchOptions' names; an absent one stays as it is. */
export type LaunchChange = Pick<LaunchOptions, ChangeField>;

export const changeFields = [
  "ctxSize",
  "cacheTypeK",
  "cacheTypeV",
  "parallel",
  "ubatchSize",
  "flashAttn",
  "gpuLayers",
  "nCpuMoe",
  "kvUnified",
  "kvUnifiedPerSlot",
  "ropeScaling",
  "ropeScale",
] as const;

export type ChangeField = (typeof changeFields)[number];

/** Short and long flag of each; the long one without dashes is its key in a models preset. */
export const changeFlags: Record<ChangeField, readonly [short: string, long: string]> = {
  ctxSize: ["-c", "--ctx-size"],
  cacheTypeK: ["-ctk", "--cache-type-k"],
  cacheTypeV: ["-ctv", "--cache-type-v"],
  parallel: ["-np", "--parallel"],
  ubatchSize: ["-ub", "--ubatch-size"],
  flashAttn: ["-fa", "--flash-attn"],
  gpuLayers: ["-ngl", "--n-gpu-layers"],
  nCpuMoe: ["-ncmoe", "--n-cpu-moe"],
  kvUnified: ["-kvu", "--kv-unified"],
  kvUnifiedPerSlot: ["--kv-unified-per-slot", "--kv-unified-per-slot"],
  ropeScaling: ["--rope-scaling", "--rope-scaling"],
  ropeScale: ["--rope-scale", "--rope-scale"],
};

export const flashChoices: readonly FlashAttn[] = ["auto", "on", "off"];

/** The options that are changed, in a fixed order, each with its value as it is written. */
export function changedOptions(change: LaunchChange): readonly (readonly [ChangeField, string])[] {
  return changeFields.flatMap((field) => {
    const value = change[field];
    return value === undefined ? [] : [[field, String(value)] as const];
  });
}

/** The arguments that make the change: `-c 65536 -ctk q8_0`. */
export function changeArguments(change: LaunchChange): readonly string[] {
  return changedOptions(change).flatMap(([field, value]) =>
    change[field] === true ? [changeFlags[field][0]] : [changeFlags[field][0], value],
  );
}

/** A command line with the change made: what it said of the same options before is gone. */
export function argumentsWithChange(argv: readonly string[], change: LaunchChange): readonly string[] {
  const replaced = new Set(
    changedOptions(change).map(([field]) => optionOfFlag(changeFlags[field][1])?.option),
  );
  const kept: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    const option = optionOfFlag(word)?.option;
    const values =
      option === undefined || option.value.kind === "flag" ? 0 : option.value.kind === "two" ? 2 : 1;
    if (option === undefined || !replaced.has(option)) append(kept, argv.slice(index, index + 1 + values));
    index += values;
  }
  return [...kept, ...changeArguments(change)];
}

/** A change as it came from outside; undefined where any part of it is none of ours. */
export function readChange(value: unknown): LaunchChange | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const change: Record<string, number | string | boolean> = {};
  for (const [field, its] of Object.entries(value) as [string, unknown][]) {
    if (!isChangeField(field) || !accepts[field](its)) return undefined;
    change[field] = its;
  }
  return change;
}

const isChangeField = (field: string): field is ChangeField =>
  (changeFields as readonly string[]).includes(field);

type Plain = number | string | boolean;

const within =
  (low: number, high: number) =>
  (value: unknown): value is Plain =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= low && value <= high;
const isCacheType = (value: unknown): value is Plain => typeof value === "string" && cacheTypes.has(value);

const accepts: Record<ChangeField, (value: unknown) => value is Plain> = {
  ctxSize: within(1, 2 ** 30),
  cacheTypeK: isCacheType,
  cacheTypeV: isCacheType,
  parallel: within(1, 256),
  ubatchSize: within(1, 2 ** 16),
  flashAttn: (value): value is Plain => flashChoices.some((choice) => choice === value),
  gpuLayers: within(0, 10_000),
  nCpuMoe: within(0, 10_000),
  kvUnified: (value): value is Plain => value === true,
  kvUnifiedPerSlot: within(1, 2 ** 30),
  ropeScaling: (value): value is Plain => value === "yarn",
  ropeScale: (value): value is Plain => typeof value === "number" && value >= 1 && value <= 1000,
};
