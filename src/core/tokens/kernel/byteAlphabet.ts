/**
 * GPT-2's alphabet: vocabularies of byte-level BPE spell every byte as one printable character. Printable bytes stand
 * for themselves, the others for U+0100 onward in order.
 */
const letters: readonly number[] = (() => {
  const of = Array.from({ length: 256 }, () => -1);
  const printable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) of[byte] = printable(byte) ? byte : next++;
  return of;
})();

/** Byte a letter below U+0200 stands for, or -1. */
const byteOfLetter: Int16Array = (() => {
  const bytes = new Int16Array(0x200).fill(-1);
  letters.forEach((code, byte) => (bytes[code] = byte));
  return bytes;
})();

/** The UTF-8 bytes of a byte's letter. */
export function spellByte(byte: number): readonly number[] {
  const code = letters[byte] as number;
  return code < 0x80 ? [code] : [0xc0 | (code >> 6), 0x80 | (code & 0x3f)];
}

/**
 * Reads the bytes a spelled text stands for into `out` and returns how many, or -1 when a character is no letter of the
 * alphabet (such tokens cannot come out of merging).
 */
export function unspell(text: Uint8Array, start: number, end: number, out: Uint8Array, at: number): number {
  let written = at;
  for (let i = start; i < end; i++) {
    let code = text[i] as number;
    if (code >= 0x80) {
      if (code < 0xc2 || code > 0xc7 || i + 1 >= end) return -1;
      const second = text[++i] as number;
      if ((second & 0xc0) !== 0x80) return -1;
      code = ((code & 0x1f) << 6) | (second & 0x3f);
    }
    const byte = byteOfLetter[code] as number;
    if (byte < 0) return -1;
    out[written++] = byte;
  }
  return written - at;
}
