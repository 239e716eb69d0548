import { InvalidArgumentError } from "commander";

/** MiB as bytes. */
export const mebibytes = (text: string): number => wholeNumber(text) * 2 ** 20;

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("A whole number is needed.");
  return Number(text);
}
