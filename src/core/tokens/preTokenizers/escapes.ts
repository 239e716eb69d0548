import { blank } from "./scanner";

/** A byte range that may live in another buffer than the one it came from. */
export interface ByteRange {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * llama.cpp writes blanks as U+2581 before it looks texts up. Here it is the other way round (a blank is one byte): a
 * U+2581 in the text becomes a blank, vocabulary texts likewise. `room` bytes are left free in front when it copies.
 */
export function blanksForEscapes(bytes: Uint8Array, start: number, end: number, room: number): ByteRange {
  let at = start;
  for (; at < end; at++) if (bytes[at] === 0xe2 && bytes[at + 1] === 0x96 && bytes[at + 2] === 0x81) break;
  if (at >= end && room === 0) return { bytes, start, end };
  const out = new Uint8Array(room + end - start);
  out.set(bytes.subarray(start, Math.min(at, end)), room);
  let written = room + Math.min(at, end) - start;
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === 0xe2 && bytes[at + 1] === 0x96 && bytes[at + 2] === 0x81) {
      out[written++] = blank;
      at += 2;
    } else {
      out[written++] = byte;
    }
  }
  return { bytes: out, start: room, end: written };
}

/** Blanks as U+2581, with one more in front where `prefix`. */
export function escapesForBlanks(bytes: Uint8Array, start: number, end: number, prefix: boolean): ByteRange {
  const out = new Uint8Array((end - start) * 3 + 3);
  let written = 0;
  const blankAsEscape = () => {
    out.set([0xe2, 0x96, 0x81], written);
    written += 3;
  };
  if (prefix) blankAsEscape();
  for (let at = start; at < end; at++) {
    if (bytes[at] === blank) blankAsEscape();
    else out[written++] = bytes[at] as number;
  }
  return { bytes: out, start: 0, end: written };
}
