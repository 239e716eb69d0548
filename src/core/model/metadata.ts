import type { GgufHeader, MetadataValue } from "./ggufHeader";

/** Typed reading of metadata under one architecture's prefix; absent and 0 are the same (llama.cpp saves unused keys as 0). */
export interface Metadata {
  readonly architecture: string;
  /** Non-negative integer, at most `limit`; undefined where absent, 0 or no such number. */
  integer(key: string): number | undefined;
  number(key: string): number | undefined;
  /** One value per layer from an array or a scalar; undefined where the key is absent. */
  perLayer(key: string, layers: number): readonly number[] | undefined;
  isArray(key: string): boolean;
  text(fullKey: string): string | undefined;
  readonly doubts: readonly string[];
}

/** Larger than any real dimension; products of a few of these stay exact in a double. */
const limit = 2 ** 40;

export function metadataOf(header: GgufHeader): Metadata {
  const { metadata } = header;
  const doubts: string[] = [];
  const architecture = asText(metadata.get("general.architecture")) ?? "";
  const get = (key: string): MetadataValue | undefined => metadata.get(`${architecture}.${key}`);

  const bounded = (key: string, value: MetadataValue | undefined): number | undefined => {
    const number = asNumber(value);
    if (number === undefined) return undefined;
    if (Number.isFinite(number) && number >= 0 && number <= limit) return number;
    if (!doubts.includes(key)) doubts.push(key);
    return undefined;
  };

  return {
    architecture,
    doubts,
    integer: (key) => {
      const value = get(key);
      const number = bounded(key, Array.isArray(value) ? (value as readonly MetadataValue[])[0] : value);
      return number === undefined || number < 1 ? undefined : Math.floor(number);
    },
    number: (key) => {
      const number = asNumber(get(key));
      return number === undefined || !Number.isFinite(number) || number === 0 ? undefined : number;
    },
    perLayer: (key, layers) => {
      const value = get(key);
      if (value === undefined) return undefined;
      if (!Array.isArray(value)) {
        const one = bounded(key, value) ?? 0;
        return new Array<number>(layers).fill(one);
      }
      const values = value as readonly MetadataValue[];
      if (values.length < layers && !doubts.includes(key)) doubts.push(key);
      return Array.from({ length: layers }, (_, i) => bounded(key, values[i]) ?? 0);
    },
    isArray: (key) => Array.isArray(get(key)),
    text: (fullKey) => asText(metadata.get(fullKey)),
  };
}

function asText(value: MetadataValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function asNumber(value: MetadataValue | undefined): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  return undefined;
}
