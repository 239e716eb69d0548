import { MappedText } from "./mappedText";

export type Macros = ReadonlyMap<string, MappedText>;

const maxDepth = 8;
const maxLength = 65_536;

/**
 * The text with `${name}` replaced, as llama-swap does before it splits a command. What is not known stays.
 * @param spend false when no more may be replaced.
 */
export function withMacros(
  text: MappedText,
  macros: Macros,
  spend: (characters: number) => boolean,
  depth = 0,
): MappedText {
  if (macros.size === 0 || depth > maxDepth || !text.text.includes("${")) return text;
  const replaced = new MappedText();
  let at = 0;
  for (const match of text.text.matchAll(/\$\{([\w-]+)\}/g)) {
    const macro = macros.get(match[1] ?? "");
    if (macro === undefined) continue;
    const value = withMacros(macro, macros, spend, depth + 1);
    if (!spend(value.text.length + 1) || replaced.text.length + value.text.length > maxLength) break;
    replaced.addPart(text, at, match.index).addPart(value);
    at = match.index + match[0].length;
  }
  return replaced.addPart(text, at);
}
