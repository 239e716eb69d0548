/** Width of text at the charts' 11 px, in CSS pixels: wide letters count double. An estimate, on the safe side. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += (character.codePointAt(0) ?? 0) > 0x2e7f ? 11.5 : 6.3;
  return width;
}

/** The text cut to a width, with an ellipsis; empty where not even two letters have room. */
export function shorten(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = "";
  for (const character of text) {
    if (textWidth(`${kept}${character}…`) > width) break;
    kept += character;
  }
  return kept.length < 2 ? "" : `${kept}…`;
}
