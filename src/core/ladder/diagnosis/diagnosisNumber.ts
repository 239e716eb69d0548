export type NumberKind = "tokens" | "seconds" | "share" | "bytes";

const unitsOf: Readonly<Record<NumberKind, Readonly<Record<string, number>>>> = {
  tokens: { "": 1, k: 1024 },
  seconds: { "": 1, s: 1, min: 60 },
  share: { "": 1, "%": 0.01 },
  bytes: { "": 2 ** 30, gib: 2 ** 30, mib: 2 ** 20 },
};

/** A number as people type it ("64K", "85 %", "1,5 GiB") in tokens, seconds, parts of one or bytes; else undefined. */
export function numberOf(text: string, kind: NumberKind): number | undefined {
  const [, digits, unit = ""] = /^(\d+(?:[.,]\d+)?)\s*([a-z%]*)$/i.exec(text.trim()) ?? [];
  const times = unitsOf[kind][unit.toLowerCase()];
  return digits === undefined || times === undefined ? undefined : Number(digits.replace(",", ".")) * times;
}
