import { valuePlaceholder } from "../prompt/question";

/** What can be read from an answer to the recall question. */
export interface ReadAnswer {
  readonly values: ReadonlyMap<string, string>;
  /** The reply was one JSON object and nothing else. */
  readonly clean: boolean;
  /** A JSON object with an asked key was found, whole, and no key is missing that a cut one may have held. */
  readonly complete: boolean;
  /** Thinking that never came to an end. */
  readonly stillThinking: boolean;
}

const maxAnswer = 1_000_000;

/**
 * Reads keys and values: JSON objects with asked keys, the later one counting where a key is given twice, else
 * `key: value` or `key = value` lines. What stands inside a thinking block does not count, nor does the question's form
 * that is repeated empty.
 */
export function readAnswer(raw: string, keys: readonly string[], opensThinking = false): ReadAnswer {
  const { text, stillThinking } = withoutThinking(raw.slice(0, maxAnswer), opensThinking);
  const wanted = new Map(keys.map((key) => [plain(key), key]));
  const values = new Map<string, string>();
  const found = jsonObjects(text).filter(({ value }) =>
    Object.keys(value).some((key) => wanted.has(plain(key))),
  );
  for (const [name, value] of found.flatMap((object) => Object.entries(object.value))) {
    const key = wanted.get(plain(name));
    const only = onlyValue(value);
    if (key === undefined || only === undefined) continue;
    if (!values.has(key) || plain(only) !== valuePlaceholder) values.set(key, only);
  }
  const last = found.at(-1);
  if (last !== undefined) {
    const around = text.slice(0, last.from) + text.slice(last.to);
    const clean = found.length === 1 && around.replace(/```(?:json)?/g, "").trim() === "";
    // behind the last whole object another one may have been cut off
    const complete = values.size === keys.length || !text.slice(last.to).includes("{");
    return { values, clean, complete, stillThinking };
  }
  for (const [, name = "", value = ""] of text.matchAll(line)) {
    const key = wanted.get(plain(name));
    if (key !== undefined && !values.has(key)) values.set(key, value.replace(/[.;]$/, ""));
  }
  return { values, clean: false, complete: false, stillThinking };
}

/** What completes a line that was begun up to its value: everything up to the closing quote. */
export const completedValue = (text: string): string => (/^[^"\n]*/.exec(text)?.[0] ?? "").slice(0, 80);

/** `"key": "value"`, `- **key** = value`, `| key | value |`, `key is value`; a value has a digit. */
const line =
  /([A-Za-z]{1,30}[-\u2010-\u2015\u2212][A-Za-z]{1,30}[-\u2010-\u2015\u2212]\d{1,4})["'`*\u201c\u201d\u300d]{0,4}\s{0,20}(?::|\uff1a|=|->|\u2192|\||is)\s{0,20}["'`*\u201c\u201e\u300c]{0,4}([^\s"'`*,}|\u201c\u201d\u300d]{0,40}[\d\uff10-\uff19][^\s"'`*,}|\u201c\u201d\u300d]{0,40})/g;

/** A value, also one in a list or an object of its own. */
function onlyValue(value: unknown): string | undefined {
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (typeof value !== "object" || value === null) return undefined;
  const inside = Object.values(value).filter((one) => typeof one === "string" || typeof one === "number");
  return inside.length === 1 ? String(inside[0]) : undefined;
}

/**
 * Upper and lower case, white space at the ends, the kind of hyphen and full-width characters make no difference.
 */
export const plain = (text: string): string =>
  text
    .normalize("NFKC")
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .trim()
    .toLowerCase();

export function withoutThinking(
  raw: string,
  opensThinking: boolean,
): { readonly text: string; readonly stillThinking: boolean } {
  const text = opensThinking ? `<think>${raw}` : raw;
  const last = text.lastIndexOf("</think>");
  if (last >= 0) return { text: text.slice(last + 8), stillThinking: false };
  const opened = text.indexOf("<think>");
  if (opened >= 0) return { text: text.slice(0, opened), stillThinking: true };
  return { text, stillThinking: false };
}

interface Found {
  readonly from: number;
  readonly to: number;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Every JSON object in the text that is not inside another. */
function jsonObjects(text: string): readonly Found[] {
  const found: Found[] = [];
  let from = text.indexOf("{");
  for (let tries = 0; from >= 0 && tries < 200; tries++) {
    const to = endOfObject(text, from);
    const value = to === undefined ? undefined : parsed(text.slice(from, to));
    if (to !== undefined && value !== undefined) {
      found.push({ from, to, value });
      from = text.indexOf("{", to);
    } else from = text.indexOf("{", from + 1);
  }
  return found;
}

function endOfObject(text: string, from: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === "\\") at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return at + 1;
  }
  return undefined;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
