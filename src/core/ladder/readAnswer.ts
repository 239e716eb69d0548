/** What can be read from an answer to the recall question. */
export interface ReadAnswer {
  readonly values: ReadonlyMap<string, string>;
  /** The reply was one JSON object and nothing else. */
  readonly clean: boolean;
  /** A JSON object with at least one asked key was found, whole. */
  readonly complete: boolean;
  /** Thinking that never came to an end. */
  readonly stillThinking: boolean;
}

const maxAnswer = 1_000_000;

/**
 * Reads keys and values: the last JSON object with an asked key, else `key: value` or `key = value` lines. What stands
 * inside a thinking block does not count.
 */
export function readAnswer(raw: string, keys: readonly string[], opensThinking = false): ReadAnswer {
  const { text, stillThinking } = withoutThinking(raw.slice(0, maxAnswer), opensThinking);
  const wanted = new Map(keys.map((key) => [plain(key), key]));
  const found = jsonObjects(text).findLast(({ value }) =>
    Object.keys(value).some((key) => wanted.has(plain(key))),
  );
  const values = new Map<string, string>();
  if (found !== undefined) {
    for (const [name, value] of Object.entries(found.value)) {
      const key = wanted.get(plain(name));
      if (key !== undefined && (typeof value === "string" || typeof value === "number"))
        values.set(key, String(value));
    }
    const around = text.slice(0, found.from) + text.slice(found.to);
    return {
      values,
      clean: around.replace(/```(?:json)?/g, "").trim() === "",
      complete: true,
      stillThinking,
    };
  }
  const pattern = /["'`*]*([A-Za-z]+-[A-Za-z]+-\d+)["'`*]*\s*(?::|=|->|→|is)\s*["'`*]*([^\s"'`*,}]{1,40})/g;
  for (const [, name = "", value = ""] of text.matchAll(pattern)) {
    const key = wanted.get(plain(name));
    if (key !== undefined && !values.has(key)) values.set(key, value.replace(/[.;]$/, ""));
  }
  return { values, clean: false, complete: false, stillThinking };
}

/** Upper and lower case and white space at the ends make no difference. */
export const plain = (text: string): string => text.trim().toLowerCase();

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
