import { count, say } from "../../text";
import { UserError } from "../../userError";
import { ownValue } from "../../ownValue";

/** One line of a llama.cpp log without what is printed in front of it. */
export interface LogLine {
  /** From 1. */
  readonly number: number;
  /** The message; columns are those of `whole` from `start` on. */
  readonly text: string;
  readonly start: number;
  /** Seconds since the program's start, where the line says so. */
  readonly seconds?: number;
  readonly level?: LogLevel;
  /** What a container, journal or router put in front to tell its programs apart: `llama-1`, `box llama[500563]`, `53409`. */
  readonly source?: string;
}

export type LogLevel = "debug" | "info" | "warning" | "error";

const levels: Readonly<Record<string, LogLevel>> = {
  D: "debug",
  I: "info",
  W: "warning",
  E: "error",
  debug: "debug",
  info: "info",
  warn: "warning",
  warning: "warning",
  error: "error",
};

const escape = String.fromCharCode(27);
const colours = new RegExp(`${escape}\\[[0-9;]*[A-Za-z]`, "g");
/** `1.02.003.456 I ` (minutes, seconds, milli- and microseconds), since 2024. */
const stamp = /^(\d+)\.(\d\d)\.(\d{3})\.(\d{3}) ([DIWE]) /;
/** The same with `--log-prefix` but no timestamps, or copied without them: `E srv    load_model: `. */
const bareLevel = /^([DIWE]) (?=(?:srv|slot|cmn|que|res|\w+:) )/;
/** Programs that embed llama.cpp: ` ERR [   update_slots] `, `[ERROR] `, `[llama-cpp] | Exception: `. */
const foreignError = /^ *(?:\[[\w .-]{1,40}\][ |]+)*(?:\[?(?:ERR|ERROR|FATAL)\]?(?:[ :]|$)|Exception: )/;
/** What containers, journals, routers and wrappers put in front: `name-1  | `, `[12345] `, `Sep 01 10:00:00 host x[1]: `. */
const wrappers = [
  /^([\w.-]+)\s+\| /,
  /^[A-Z][a-z]{2} +\d+ [\d:]{8} (\S+ [\w.-]+\[\d+\]): /,
  /^\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-][\d:]+)?\s+/,
  /^\[\d{4}-\d\d-\d\d[T ][\d:.,]+\]\s+/,
  /^\[\s*(\d+)\]\s+/,
];

/** llama.cpp's own lines are shorter; patterns must not be tried on a megabyte. */
const maxLength = 4096;

/** Takes prefixes off a line; colours are removed first. */
export function readLogLine(line: string, number: number): LogLine {
  const whole = line.length > maxLength ? line.slice(0, maxLength) : line;
  const plain = whole.includes(escape) ? whole.replace(colours, "") : whole;
  if (plain.startsWith('{"')) {
    const json = readJsonLine(plain, number);
    if (json !== undefined) return json;
  }
  // most lines have nothing in front of llama.cpp's own stamp
  let stamped = stamp.exec(plain);
  let start = 0;
  let source = "";
  if (stamped === null) {
    for (const wrapper of wrappers) {
      const found = wrapper.exec(plain.slice(start, start + 200));
      start += found?.[0].length ?? 0;
      source ||= found?.[1] ?? "";
    }
    stamped = stamp.exec(plain.slice(start, start + 40));
  }
  const from = source === "" ? {} : { source };
  if (stamped === null) {
    const [bare = "", letter = ""] = bareLevel.exec(plain.slice(start, start + 80)) ?? [];
    const foreign = /[ [EF]/.test(plain.charAt(start)) && foreignError.test(plain.slice(start, start + 200));
    const level = levels[letter] ?? (foreign ? "error" : undefined);
    start += bare.length;
    return { number, text: plain.slice(start), start, ...(level && { level }), ...from };
  }
  const [all, minutes, seconds, milliseconds, microseconds, level = ""] = stamped;
  const known = ownValue(levels, level);
  return {
    number,
    text: plain.slice(start + all.length),
    start: start + all.length,
    seconds:
      Number(minutes) * 60 + Number(seconds) + (Number(milliseconds) * 1000 + Number(microseconds)) / 1e6,
    ...(known === undefined ? {} : { level: known }),
    ...from,
  };
}

/** `--log-jsonl`: `{"type":"log","time":16604,"level":"info","msg":"…"}`, time in microseconds. */
function readJsonLine(text: string, number: number): LogLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("msg" in value) || typeof value.msg !== "string") {
    return undefined;
  }
  const level =
    "level" in value && typeof value.level === "string" ? ownValue(levels, value.level) : undefined;
  const seconds = "time" in value && typeof value.time === "number" ? value.time / 1e6 : undefined;
  return {
    number,
    text: value.msg.replace(/\n+$/, ""),
    start: 0,
    ...(seconds === undefined ? {} : { seconds }),
    ...(level === undefined ? {} : { level }),
  };
}

/** A log of a quarter of a gibibyte has so many; each takes about a hundred bytes. */
const mostLines = 4_000_000;

/** @throws UserError for more than `most` lines. */
export function logLines(text: string, most = mostLines): LogLine[] {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
    if (++lines > most) throw tooManyLines(most);
  }
  return text.split(/\r?\n/).map((line, index) => readLogLine(line, index + 1));
}

const tooManyLines = (most: number): UserError =>
  new UserError(
    "tooLarge",
    say`This log has more than ${count(most)} line[s].`,
    say`Explain the part around the error: the last lines, for example.`,
  );

/** "256.00" or "256,00" MiB in bytes. */
export function parseMebibytes(text: string): number {
  return Math.round(Number(text.replace(",", ".")) * 2 ** 20);
}
