import { MappedText } from "./mappedText";

/** How a text is written: what of YAML's styles (and of JSON's strings, which are `double`) changes its characters. */
export type ScalarStyle = "verbatim" | "single" | "double";

/**
 * A scalar's value with the place of each character: between source and value, quotes and escapes are undone, and line
 * breaks with the blanks around them are folded, so the characters that are not blank are the same in the same order.
 * @param source as it is written, without a block's header and without what comes behind it.
 */
export function scalarText(value: string, source: string, offset: number, style: ScalarStyle): MappedText {
  let at = style === "verbatim" ? 0 : 1;
  const mapped = new MappedText(offset + at);
  const unitAt = (): string =>
    style === "double" && source[at] === "\\"
      ? (/^\\(?:x..|u.{4}|U.{8}|\r\n|[^])?/.exec(source.slice(at, at + 10))?.[0] ?? "\\")
      : style === "single" && source.startsWith("''", at)
        ? "''"
        : (source[at] ?? "");
  for (let index = 0; index < value.length; index++) {
    const char = value[index] ?? "";
    let unit = unitAt();
    if (isBlank.test(char)) {
      while (isBreak.test(unit)) {
        at += unit.length;
        unit = unitAt();
      }
      if (!isBlankUnit.test(unit)) unit = "";
    } else {
      while (unit !== "" && isBlankUnit.test(unit)) {
        at += unit.length;
        unit = unitAt();
      }
    }
    const place = { start: offset + at, end: offset + at + unit.length };
    const isPair = unit.length > 6 && char >= "\uD800" && char <= "\uDBFF";
    mapped.add(isPair ? char + (value[++index] ?? "") : char, place);
    at += unit.length;
  }
  return mapped;
}

const isBlank = /^[ \t\r\n]$/;
/** A line break that stands for nothing. */
const isBreak = /^\\\r?\n$/;
/** A blank, or an escape that stands for one. */
const isBlankUnit =
  /^(?:[ \t\r\n]|\\(?:[ \ttrn]|\r?\n|x(?:09|20|0[AaDd])|u00(?:09|20|0[AaDd])|U000000(?:09|20|0[AaDd])))$/;
