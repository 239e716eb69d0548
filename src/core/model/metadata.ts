import { say } from "../text";
import { UserError } from "../userError";
import type { GgufHeader, MetadataValue } from "./ggufHeader";

/**
 * Typed reading of metadata under one architecture's prefix; absent and 0 are the same (llama.cpp saves unused keys as 0).
 * A number llama.cpp would not take is a `UserError`: nothing is computed from it.
 */
export interface Metadata {
  readonly architecture: string;
  /** A positive whole number; undefined where absent or 0. */
  integer(key: string): number | undefined;
  /** A finite number; undefined where absent, 0 or anything else. */
  number(key: string): number | undefined;
  /** One value per layer from an array or a scalar; undefined where the key is absent. */
  perLayer(key: string, layers: number): readonly number[] | undefined;
  isArray(key: string): boolean;
  text(fullKey: string): string | undefined;
  /** Refuses a value that does not go with the others, as out of the range from `min` to `max`. */
  expect(key: string, min: number, max: number): void;
  /** Keys of arrays with too few values. */
  readonly doubts: readonly string[];
}

/** `LLAMA_MAX_LAYERS` in llama-hparams.h. */
export const maxLayers = 512;
/** `LLAMA_MAX_EXPERTS` of b11669; 512 in older builds. */
const maxExperts = 1024;
/** llama.cpp keeps hyper-parameters in 32 bits. */
const maxInteger = 2 ** 32 - 1;

/** Keys that size arrays in llama.cpp, and here. */
const limits: ReadonlyMap<string, number> = new Map([
  ["block_count", maxLayers],
  ["num_loops", maxLayers],
  ["nextn_predict_layers", maxLayers],
  ["expert_count", maxExperts],
  ["expert_used_count", maxExperts],
]);

export function metadataOf(header: GgufHeader): Metadata {
  const { metadata } = header;
  const doubts: string[] = [];
  const architecture = asText(metadata.get("general.architecture")) ?? "";
  const full = (key: string): string => `${architecture}.${key}`;
  const get = (key: string): MetadataValue | undefined => metadata.get(full(key));

  const whole = (key: string, value: MetadataValue, min = 0, max = limits.get(key) ?? maxInteger): number => {
    const number = asNumber(value);
    if (number !== undefined && Number.isInteger(number) && number >= min && number <= max) return number;
    throw new UserError(
      "invalidInput",
      say`The header of ${header.locator} is invalid: ${full(key)} is ${shown(value)}, but llama.cpp accepts whole numbers from ${String(min)} to ${String(max)}.`,
      say`Check the download, or choose another file.`,
    );
  };
  const first = (value: MetadataValue | undefined): MetadataValue | undefined =>
    isArray(value) ? value[0] : value;

  return {
    architecture,
    doubts,
    integer: (key) => {
      const value = first(get(key));
      const number = value === undefined ? 0 : whole(key, value);
      return number === 0 ? undefined : number;
    },
    number: (key) => {
      const number = asNumber(get(key));
      return number === undefined || !Number.isFinite(number) || number === 0 ? undefined : number;
    },
    perLayer: (key, layers) => {
      const value = get(key);
      if (value === undefined) return undefined;
      if (!isArray(value)) return new Array<number>(layers).fill(whole(key, value));
      if (value.length < layers && !doubts.includes(key)) doubts.push(key);
      return Array.from({ length: layers }, (_, i) => whole(key, value[i] ?? 0));
    },
    isArray: (key) => isArray(get(key)),
    text: (fullKey) => asText(metadata.get(fullKey)),
    expect: (key, min, max) => {
      const value = first(get(key));
      if (value !== undefined) whole(key, value, min, max);
    },
  };
}

const isArray = (value: MetadataValue | undefined): value is readonly MetadataValue[] => Array.isArray(value);

function asText(value: MetadataValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function asNumber(value: MetadataValue | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  return undefined;
}

function shown(value: MetadataValue): string {
  if (isArray(value)) return "[…]";
  return typeof value === "string" ? `"${value.slice(0, 40)}"` : String(value);
}
