/** Bytes of the character that starts with `lead`, as llama.cpp reads it (also of a byte that starts none: 1). */
export function utf8Width(lead: number): number {
  return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** The code point at `at` of well-formed UTF-8. */
export function codePointAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return lead;
  const second = (bytes[at + 1] as number) & 0x3f;
  if (lead < 0xe0) return ((lead & 0x1f) << 6) | second;
  const third = (bytes[at + 2] as number) & 0x3f;
  if (lead < 0xf0) return ((lead & 0x0f) << 12) | (second << 6) | third;
  return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | ((bytes[at + 3] as number) & 0x3f);
}

/** Writes a code point as UTF-8 and returns the position after it. */
export function writeCodePoint(into: Uint8Array, at: number, code: number): number {
  if (code < 0x80) {
    into[at] = code;
    return at + 1;
  }
  if (code < 0x800) {
    into[at] = 0xc0 | (code >> 6);
    into[at + 1] = 0x80 | (code & 0x3f);
    return at + 2;
  }
  if (code < 0x10000) {
    into[at] = 0xe0 | (code >> 12);
    into[at + 1] = 0x80 | ((code >> 6) & 0x3f);
    into[at + 2] = 0x80 | (code & 0x3f);
    return at + 3;
  }
  into[at] = 0xf0 | (code >> 18);
  into[at + 1] = 0x80 | ((code >> 12) & 0x3f);
  into[at + 2] = 0x80 | ((code >> 6) & 0x3f);
  into[at + 3] = 0x80 | (code & 0x3f);
  return at + 4;
}

const replacement = 0xfffd;

/** Whether every byte belongs to a well-formed character (surrogates are none). */
export function isWellFormed(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end;) {
    const lead = bytes[at] as number;
    if (lead < 0x80) {
      at++;
      continue;
    }
    const code = readCodePoint(bytes, at, end);
    if (code < 0 || (code >= 0xd800 && code <= 0xdfff)) return false;
    at += utf8Width(lead);
  }
  return true;
}

/**
 * What llama.cpp makes of bytes that are not well-formed UTF-8 before it splits them: every byte that is not part of a
 * character becomes U+FFFD; surrogates stay as they are.
 */
export function wellFormed(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const out = new Uint8Array((end - start) * 3);
  let written = 0;
  for (let at = start; at < end;) {
    const code = readCodePoint(bytes, at, end);
    written = writeCodePoint(out, written, code < 0 ? replacement : code);
    at += code < 0 ? 1 : utf8Width(bytes[at] as number);
  }
  return out.subarray(0, written);
}

/** llama.cpp's decoder: -1 where it finds no character (also for overlong forms and beyond U+10FFFF). */
export function readCodePoint(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return lead;
  if (lead < 0xc0 || lead >= 0xf8) return -1;
  const width = utf8Width(lead);
  if (at + width > end) return -1;
  for (let i = 1; i < width; i++) if (((bytes[at + i] as number) & 0xc0) !== 0x80) return -1;
  const code = codePointAt(bytes, at);
  const least = width === 2 ? 0x80 : width === 3 ? 0x800 : 0x10000;
  return code >= least && code <= 0x10ffff ? code : -1;
}
