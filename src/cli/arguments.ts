import { InvalidArgumentError } from "commander";

/** MiB as bytes. */
export const mebibytes = (text: string): number => wholeNumber(text) * 2 ** 20;

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("A whole number is needed.");
  return Number(text);
}

const powers: Readonly<Record<string, number>> = { "": 0, k: 1, m: 2, g: 3, t: 4 };

/** Tokens, also as `128K` or `1M` (of 1,024), as contexts are named. */
export function tokenCount(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,15})([km]?)$/i.exec(text) ?? [];
  if (number === "") throw new InvalidArgumentError("Tokens are needed, for example 131072 or 128K.");
  return safe(Number(number) * 1024 ** (powers[unit.toLowerCase()] ?? 0));
}

/** Tokens one after the other: `0,4K,16K`. */
export const tokenList = (text: string): readonly number[] => text.split(",").map(tokenCount);

/** Bytes, also as `8GiB`, `24G` or `512M`: powers of 1,024, as llama.cpp and the panel show them. */
export function byteCount(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,16}(?:\.\d{1,6})?)\s*([kmgt]?)(?:ib|b)?$/i.exec(text) ?? [];
  const whole = unit !== "" || /^\d+$/.test(number);
  if (number === "" || !whole || /^\d+ib$/i.test(text)) {
    throw new InvalidArgumentError("Bytes are needed, for example 8589934592 or 8GiB.");
  }
  return safe(Math.round(Number(number) * 1024 ** (powers[unit.toLowerCase()] ?? 0)));
}

function safe(value: number): number {
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError("The number is too large.");
  return value;
}
