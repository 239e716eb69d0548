/**
 * How C++'s `stoi`, `stoul` and `stof` read text, because llama-server does: blanks in front and anything behind the
 * number are ignored, so "32k" is 32.
 */
export type CNumber =
  | { readonly ok: true; readonly value: number; readonly rest: string }
  | { readonly ok: false; readonly why: "notANumber" | "outOfRange" };

export function readInteger(text: string): CNumber {
  return read(text, /^[\s]*([+-]?\d+)/, (value) => value >= -(2 ** 31) && value < 2 ** 31);
}

/** 64 bits; a negative number wraps around as in C++ and is given back as it was written. */
export function readUnsigned(text: string): CNumber {
  return read(text, /^[\s]*([+-]?\d+)/, (_, written) => BigInt(written.replace(/^[+-]/, "")) < 2n ** 64n);
}

export function readFloat(text: string): CNumber {
  return readReal(text, fitsFloat);
}

export function readDouble(text: string): CNumber {
  return readReal(text, (value, written) => value !== 0 || !/[1-9]/.test(written.split(/e/i)[0] ?? ""));
}

function readReal(text: string, fits: (value: number, written: string) => boolean): CNumber {
  return read(
    text,
    /^[\s]*([+-]?(?:0x[0-9a-f]+(?:p[+-]?\d+)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan))/i,
    (value, written) => !Number.isFinite(value) === /inf|nan/i.test(written) && fits(value, written),
  );
}

const largestFloat = 3.4028235677973366e38;
const smallestFloat = 1.1754943508222875e-38;

function fitsFloat(value: number): boolean {
  const size = Math.abs(value);
  return !Number.isFinite(value) || size === 0 || (size >= smallestFloat && size < largestFloat);
}

function read(text: string, shape: RegExp, fits: (value: number, written: string) => boolean): CNumber {
  const match = shape.exec(text);
  const written = match?.[1];
  if (match === null || written === undefined) return { ok: false, why: "notANumber" };
  const value = toNumber(written);
  if (!fits(value, written)) return { ok: false, why: "outOfRange" };
  return { ok: true, value, rest: text.slice(match[0].length) };
}

function toNumber(written: string): number {
  const lower = written.toLowerCase();
  if (lower.endsWith("nan")) return Number.NaN;
  if (lower.includes("inf")) return lower.startsWith("-") ? -Infinity : Infinity;
  // JavaScript reads hexadecimal numbers without a sign and without a binary exponent only
  const [mantissa = "", exponent] = lower.startsWith("0x", /^[+-]/.test(lower) ? 1 : 0)
    ? lower.split("p")
    : [lower];
  if (exponent !== undefined) return toNumber(mantissa) * 2 ** Number(exponent);
  return lower.startsWith("-") ? -Number(lower.slice(1)) : Number(lower.replace(/^\+/, ""));
}
