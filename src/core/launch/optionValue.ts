import { count, say, type Text } from "../text";
import { readDouble, readFloat, readInteger, readUnsigned, type CNumber } from "./cNumbers";

/** What an option takes. Ranges are inclusive; `except` is one value inside the range that is refused. */
export type ValueKind =
  | { readonly kind: "flag" }
  | { readonly kind: "integer"; readonly min?: number; readonly max?: number; readonly except?: number }
  | { readonly kind: "unsigned" }
  | { readonly kind: "number"; readonly min?: number; readonly above?: number; readonly finite?: boolean }
  /** One or more of C++'s doubles, and nothing behind them. */
  | { readonly kind: "exactNumbers"; readonly list: boolean; readonly min?: number }
  | { readonly kind: "numbers" }
  | { readonly kind: "unsignedNumbers" }
  | { readonly kind: "text" }
  | { readonly kind: "path" }
  | { readonly kind: "choice"; readonly choices: readonly string[]; readonly also?: readonly string[] }
  | { readonly kind: "choices"; readonly choices: readonly string[] }
  /** on/off, in llama.cpp's four spellings each; `auto` where it is allowed. */
  | { readonly kind: "switch"; readonly auto: boolean }
  | { readonly kind: "layers" }
  | { readonly kind: "devices" }
  | { readonly kind: "servers" }
  | { readonly kind: "hosts" }
  | { readonly kind: "overrides" }
  | { readonly kind: "keyValues" }
  | { readonly kind: "scaledFiles" }
  | { readonly kind: "cpuMask" }
  | { readonly kind: "cpuRange" }
  | { readonly kind: "logitBias" }
  | { readonly kind: "json"; readonly object?: boolean }
  | { readonly kind: "removed" }
  | { readonly kind: "two" };

export type ValueProblem =
  | { readonly severity: "error"; readonly code: "badValue"; readonly message: Text }
  | { readonly severity: "warning"; readonly code: "trailingText"; readonly message: Text };

export const truthy: readonly string[] = ["on", "enabled", "true", "1"];
export const falsy: readonly string[] = ["off", "disabled", "false", "0"];
export const autoWords: readonly string[] = ["auto", "-1"];

/** Highest number of devices llama.cpp can be given proportions for. */
const maxDevices = 16;

/** What llama-server would say against `text` as the value of an option; undefined where it takes it as it stands. */
export function checkValue(kind: ValueKind, text: string): ValueProblem | undefined {
  switch (kind.kind) {
    case "integer":
      return checkInteger(kind, text);
    case "unsigned":
      return checkNumber(readUnsigned(text), text);
    case "number":
      return checkFloat(kind, text);
    case "exactNumbers":
      return firstProblem(kind.list ? text.split(",") : [text], (part) => checkExact(kind, part));
    case "numbers":
      return checkList(text, readFloat);
    case "unsignedNumbers":
      return checkList(text, readUnsigned);
    case "choice":
      return oneOf([...kind.choices, ...(kind.also ?? [])], kind.choices, text);
    case "choices":
      return firstProblem(text.split(","), (part) => oneOf(kind.choices, kind.choices, part));
    case "switch":
      return kind.auto
        ? oneOf([...truthy, ...falsy, ...autoWords], ["on", "off", "auto"], text)
        : oneOf([...truthy, ...falsy], ["on", "off"], text);
    case "layers":
      return text === "auto" || text === "all" ? undefined : checkNumber(readInteger(text), text);
    case "devices":
      return text === "" ? bad(say`A device name is missing.`) : undefined;
    case "servers":
      return firstProblem(text.split(","), (part) =>
        /^[^:]*:\d+$/.test(part) ? undefined : bad(say`${quote(part)} is not HOST:PORT.`),
      );
    case "hosts":
      return /[^,]/.test(text) ? undefined : bad(say`An address is missing.`);
    case "overrides":
      return firstProblem(text.split(","), (part) =>
        part.includes("=") ? undefined : bad(say`${quote(part)} is not PATTERN=BUFFER.`),
      );
    case "keyValues":
      return firstProblem(text.split(","), checkKeyValue);
    case "scaledFiles":
      return firstProblem(text.split(","), (part) => {
        const scale = /^[^:]*:([^:]*)$/.exec(part)?.[1];
        return scale === undefined
          ? bad(say`${quote(part)} is not FILE:SCALE.`)
          : checkNumber(readFloat(scale), part);
      });
    case "cpuMask":
      return /^(0x)?[0-9a-f]*$/i.test(text) ? undefined : bad(say`${quote(text)} is not a hexadecimal mask.`);
    case "cpuRange":
      return isCpuRange(text) ? undefined : bad(say`${quote(text)} is not a range such as 0-7.`);
    case "logitBias":
      return /^\s*\d+\s*[+-]\s*[\d.]/.test(text)
        ? undefined
        : bad(say`${quote(text)} is not TOKEN+BIAS or TOKEN-BIAS.`);
    case "json":
      return isJson(text) && (kind.object !== true || /^\s*\{/.test(text))
        ? undefined
        : bad(say`The value is not valid JSON.`);
    case "flag":
    case "text":
    case "path":
    case "removed":
    case "two":
      return undefined;
  }
}

function checkInteger(kind: ValueKind & { kind: "integer" }, text: string): ValueProblem | undefined {
  const number = readInteger(text);
  const { min = -Infinity, max = Infinity, except } = kind;
  if (number.ok && (number.value < min || number.value > max || number.value === except)) {
    if (max === Infinity && min > -Infinity)
      return bad(say`${quote(text)} is too small: at least ${String(min)}.`);
    if (max < Infinity) return bad(say`${quote(text)} is not in the range ${String(min)} to ${String(max)}.`);
    return bad(say`${quote(text)} is not allowed here.`);
  }
  return checkNumber(number, text);
}

function checkFloat(kind: ValueKind & { kind: "number" }, text: string): ValueProblem | undefined {
  const number = readFloat(text);
  if (number.ok && kind.finite === true && !Number.isFinite(number.value)) {
    return bad(say`${quote(text)} is not a finite number.`);
  }
  if (number.ok && kind.min !== undefined && !(number.value >= kind.min)) {
    return bad(say`${quote(text)} is too small: at least ${String(kind.min)}.`);
  }
  if (number.ok && kind.above !== undefined && !(number.value > kind.above)) {
    return bad(say`${quote(text)} must be above ${String(kind.above)}.`);
  }
  return checkNumber(number, text);
}

function checkExact(kind: ValueKind & { kind: "exactNumbers" }, text: string): ValueProblem | undefined {
  const number = readDouble(text);
  if (!number.ok || number.rest.trim() !== "") return bad(say`${quote(text)} is not a number.`);
  return number.value < (kind.min ?? -Infinity)
    ? bad(say`${quote(text)} is too small: at least ${String(kind.min)}.`)
    : undefined;
}

function checkNumber(number: CNumber, text: string): ValueProblem | undefined {
  if (!number.ok) {
    return number.why === "notANumber"
      ? bad(say`${quote(text)} is not a number.`)
      : bad(say`${quote(text)} is out of range.`);
  }
  if (number.rest.trim() === "") return undefined;
  const message = say`llama-server reads ${quote(text)} as ${String(number.value)}: anything after the number is ignored.`;
  return { severity: "warning", code: "trailingText", message };
}

function checkList(text: string, read: (part: string) => CNumber): ValueProblem | undefined {
  const parts = splitNumbers(text);
  if (parts.length >= maxDevices) {
    return bad(
      say`${count(parts.length)} value[s], but llama.cpp takes at most ${count(maxDevices - 1)} device[s].`,
    );
  }
  return firstProblem(parts, (part) => checkNumber(read(part), part));
}

/** Lists of numbers are separated by commas or slashes. */
export function splitNumbers(text: string): string[] {
  return text
    .split(/[,/]+/)
    .filter((part, index, all) => part !== "" || index < all.length - 1 || all.length === 1);
}

function checkKeyValue(part: string): ValueProblem | undefined {
  const match = /^([^=]{0,127})=(int|float|bool|str):(.*)$/s.exec(part);
  if (match === null)
    return bad(say`${quote(part)} is not KEY=TYPE:VALUE with the type int, float, bool or str.`);
  const value = match[3] ?? "";
  if (match[2] === "bool" && value !== "true" && value !== "false") {
    return bad(say`${quote(value)} is neither true nor false.`);
  }
  return match[2] === "str" && value.length > 127 ? bad(say`The text is longer than 127 bytes.`) : undefined;
}

/** llama.cpp knows 512 CPUs. */
/** Both ends are read by `stoull`; an empty one is the first or the last. */
function isCpuRange(text: string): boolean {
  const dash = text.indexOf("-");
  return dash >= 0 && [text.slice(0, dash), text.slice(dash + 1)].every(isCpu);
}

function isCpu(text: string): boolean {
  if (text === "") return true;
  const number = readUnsigned(text);
  return number.ok && number.value >= 0 && number.value < 512;
}

function oneOf(
  accepted: readonly string[],
  shown: readonly string[],
  text: string,
): ValueProblem | undefined {
  if (accepted.includes(text)) return undefined;
  return bad(say`${quote(text)} is not one of ${shown.join(", ")}.`);
}

function firstProblem(
  parts: readonly string[],
  check: (part: string) => ValueProblem | undefined,
): ValueProblem | undefined {
  let warning: ValueProblem | undefined;
  for (const part of parts) {
    const problem = check(part);
    if (problem?.severity === "error") return problem;
    warning ??= problem;
  }
  return warning;
}

function bad(message: Text): ValueProblem {
  return { severity: "error", code: "badValue", message };
}

const quote = (text: string): string => `"${text.length > 60 ? `${text.slice(0, 57)}…` : text}"`;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
