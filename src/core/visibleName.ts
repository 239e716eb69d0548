/**
 * A file name as it may be shown: control characters and the marks that turn the writing direction become symbols, so
 * that a name can neither break a line nor pose as another one.
 */
export function visibleName(name: string): string {
  let shown = "";
  for (const character of name) shown += isMark(character) ? "\ufffd" : controlPicture(character);
  return shown;
}

function controlPicture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : character;
}

/** C1 controls, and the invisible marks that set or override the writing direction. */
function isMark(character: string): boolean {
  return /[\u0080-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(character);
}
