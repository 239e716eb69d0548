import type { Quantity, Text, TextArg } from "./text";

/** Puts an English template into the reader's language; the identity for English. */
export type Translate = (template: string) => string;

const sizeUnits = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Bytes in binary units (2^10, 2^20, 2^30): "640 MiB", "22.6 GiB". */
export function formatBytes(value: number, locale = "en"): string {
  let amount = Math.abs(value);
  let unit = 0;
  while (unit < sizeUnits.length - 1 && amount >= 1024) {
    amount /= 1024;
    unit++;
  }
  const digits = unit === 0 || amount >= 100 ? 0 : 1;
  return `${value < 0 ? "-" : ""}${formatNumber(amount, locale, digits)} ${sizeUnits[unit] ?? ""}`;
}

/** A duration as people say it: "0.4 s", "98 s", "6.6 min", "2.1 h". */
export function formatSeconds(value: number, locale = "en"): string {
  if (value < 10) return `${formatNumber(value, locale, 1)} s`;
  if (value < 120) return `${formatNumber(value, locale, 0)} s`;
  if (value < 7200) return `${formatNumber(value / 60, locale, 1)} min`;
  return `${formatNumber(value / 3600, locale, 1)} h`;
}

export function formatNumber(value: number, locale = "en", fractionDigits = 0): string {
  return new Intl.NumberFormat(locale, {
    minimumFractionDigits: fractionDigits,
    maximumFractionDigits: fractionDigits,
  }).format(value);
}

function formatQuantity(quantity: Quantity, locale = "en"): string {
  switch (quantity.unit) {
    case "count":
      return formatNumber(quantity.value, locale);
    case "bytes":
      return formatBytes(quantity.value, locale);
    case "seconds":
      return formatSeconds(quantity.value, locale);
    case "tokensPerSecond":
      return `${formatNumber(quantity.value, locale, quantity.value < 100 ? 1 : 0)} t/s`;
    case "percent":
      return `${formatNumber(quantity.value, locale, Math.abs(quantity.value) < 10 ? 1 : 0)} %`;
  }
}

/** `{0}`, and what agrees with the count before it: `[one|other]`, `[s]`, `[es]`. */
const placeholder = /\{(\d+)\}|\[([^[\]|]*)\|([^[\]|]*)\]|\[(e?s)\]/g;

/**
 * The sentence in the reader's language and number format; English without further arguments. `value` is what becomes of
 * the texts that are put into it, for surfaces that would read some of them as more than text.
 */
export function formatText(
  text: Text,
  locale = "en",
  translate: Translate = (template) => template,
  value: (foreign: string) => string = (foreign) => foreign,
): string {
  const part = (arg: TextArg | undefined): string => {
    if (arg === undefined) return "";
    if (typeof arg === "string") return value(arg);
    return "unit" in arg ? formatQuantity(arg, locale) : formatText(arg, locale, translate, value);
  };
  let counted: TextArg | undefined;
  return translate(text.text).replace(
    placeholder,
    (_, index?: string, one?: string, other?: string, ending?: string) => {
      if (index === undefined) return (isOne(counted, locale) ? one : (other ?? ending)) ?? "";
      counted = text.args[Number(index)];
      return part(counted);
    },
  );
}

/** Of a sentence around a single figure, such as "≈ 1", that figure decides. */
function isOne(arg: TextArg | undefined, locale: string): boolean {
  if (typeof arg !== "object") return false;
  if ("text" in arg) return arg.args.length === 1 && isOne(arg.args[0], locale);
  return arg.unit === "count" && new Intl.PluralRules(locale).select(arg.value) === "one";
}
