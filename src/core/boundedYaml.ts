import {
  parseDocument,
  type Document,
  type DocumentOptions,
  type ParseOptions,
  type SchemaOptions,
} from "yaml";

/** What people write is nested in some tens of levels. */
const mostColumns = 1000;
const mostBrackets = 200;

/**
 * A YAML document; undefined where it is nested too deeply. The parser calls itself for every level, and where its stack
 * ends within a regular expression, V8 ends the whole process: 100 kB of "- " do that.
 */
export function boundedYaml(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions,
): Document.Parsed | undefined {
  return isDeep(text) ? undefined : parseDocument(text, options);
}

/** Every level of blocks takes a column in front of what it holds, every other one a bracket. */
function isDeep(text: string): boolean {
  let brackets = 0;
  let columns = 0;
  let leads = true;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === "\n" || char === "\r") {
      columns = 0;
      leads = true;
    } else if (leads && " \t-?:".includes(char)) {
      if (++columns > mostColumns) return true;
    } else {
      leads = false;
      if (char === "[" || char === "{") brackets++;
      else if (char === "]" || char === "}") brackets = Math.max(0, brackets - 1);
      if (brackets > mostBrackets) return true;
    }
  }
  return false;
}
