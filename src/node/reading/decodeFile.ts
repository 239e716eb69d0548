import { isUtf8 } from "node:buffer";

/** What a file's bytes are, by VS Code's rules. `foreign`: neither UTF-8 nor UTF-16, so that it takes a decoder. */
export type DecodedFile =
  /** Without the byte order mark. */
  | { readonly kind: "utf8"; readonly bytes: Buffer }
  | { readonly kind: "utf16"; readonly text: string }
  | { readonly kind: "foreign" }
  | { readonly kind: "binary"; readonly detail: string };

export const headBytes = 8192;

/**
 * UTF-8 and UTF-16 by byte order mark, or by VS Code's own test of the first 512 bytes. A NUL in the first 8 KiB otherwise
 * means binary.
 */
export function decodeFile(bytes: Buffer): DecodedFile {
  const encoding = encodingOf(bytes.subarray(0, headBytes));
  if (encoding === "binary") return { kind: "binary", detail: "NUL" };
  if (encoding !== "utf8") {
    const decoder = new TextDecoder(encoding === "utf16le" ? "utf-16le" : "utf-16be");
    return { kind: "utf16", text: decoder.decode(bytes) };
  }
  if (isUtf8(bytes)) {
    const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return { kind: "utf8", bytes: marked ? bytes.subarray(3) : bytes };
  }
  if (controlShare(bytes.subarray(0, headBytes)) > 0.05)
    return { kind: "binary", detail: "control characters" };
  return { kind: "foreign" };
}

type Encoding = "utf8" | "utf16le" | "utf16be" | "binary";

export function encodingOf(head: Uint8Array): Encoding {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf16be";
  if (!head.includes(0)) return "utf8";
  return utf16WithoutMark(head.subarray(0, 512)) ?? "binary";
}

/** VS Code's test: every odd byte NUL and no even one (little endian), or the other way round. */
function utf16WithoutMark(bytes: Uint8Array): "utf16le" | "utf16be" | undefined {
  let little = true;
  let big = true;
  let zeros = false;
  for (const [index, byte] of bytes.entries()) {
    const zero = byte === 0;
    const odd = index % 2 === 1;
    if (zero) zeros = true;
    if (odd !== zero) little = false;
    if (odd === zero) big = false;
  }
  if (!zeros) return undefined;
  return little ? "utf16le" : big ? "utf16be" : undefined;
}

/** Control characters no text has: not tab, line ends, form feed, escape (colours, ISO-2022). */
function controlShare(bytes: Uint8Array): number {
  let controls = 0;
  for (const byte of bytes) {
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) controls++;
  }
  return controls / Math.max(1, bytes.length);
}
