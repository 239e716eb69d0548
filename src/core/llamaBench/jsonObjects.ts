/**
 * Every top-level JSON object in a text, whatever stands around them: arrays cut off by a kill, warnings between lines.
 * What is not an object comes back line by line.
 */
export function jsonObjects(text: string): {
  readonly objects: readonly Readonly<Record<string, unknown>>[];
  readonly rest: readonly string[];
} {
  const objects: Readonly<Record<string, unknown>>[] = [];
  let rest = "";
  let from = 0;
  for (let unclosed = 0; ;) {
    const start = text.indexOf("{", from);
    const end = start < 0 ? -1 : objectEnd(text, start);
    if (start < 0) break;
    if (end < 0) {
      // a brace in a warning: objects may follow on lines of their own
      const next = text.indexOf("\n", start);
      if (next < 0 || ++unclosed > mostUnclosed) break;
      rest += text.slice(from, next);
      from = next;
      continue;
    }
    rest += text.slice(from, start);
    const parsed = parse(text.slice(start, end));
    if (parsed === undefined) {
      rest += text.slice(start, end);
    } else {
      objects.push(parsed.object);
      rest += `\n${parsed.dropped.join("\n")}\n`;
    }
    from = end;
  }
  rest += text.slice(from);
  const lines = rest.split(/\r?\n/).map((line) => line.trim());
  return { objects, rest: lines.filter((line) => !/^[[\],\s]*$/.test(line)) };
}

/** Each costs a look at the rest of the text. */
const mostUnclosed = 20;

/** Behind the brace that closes the one at `start`; -1 when it is never closed. */
function objectEnd(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = start; i < text.length; i++) {
    const c = text.charAt(i);
    if (quoted) {
      if (c === "\\") i++;
      else if (c === '"' || c === "\n") quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === "{") depth++;
    else if (c === "}" && --depth === 0) return i + 1;
  }
  return -1;
}

function parse(
  text: string,
): { readonly object: Readonly<Record<string, unknown>>; readonly dropped: readonly string[] } | undefined {
  const object = tryParse(text);
  if (object !== undefined) return { object, dropped: [] };
  // A warning printed between two lines of an object.
  const lines = text.split("\n");
  const isData = (line: string): boolean => /^\s*(?:$|[{}\]["]|-?\d)/.test(line);
  const repaired = tryParse(lines.filter(isData).join("\n"));
  return repaired === undefined
    ? undefined
    : { object: repaired, dropped: lines.filter((line) => !isData(line)) };
}

function tryParse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
