import { say } from "../text";
import { findingAt, type Finding } from "./finding";
import { lint, type LintContext } from "./lintPreset";

/** Lints a file as it lies on the disk: llama-server refuses one that is not valid UTF-8, wherever the bytes stand. */
export function lintBytes(bytes: Uint8Array, context: LintContext = {}): Finding[] {
  // the byte order mark stays, because llama-server stumbles over it
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const line = invalidLine(bytes);
  const findings = lint(text, context);
  if (line === undefined) return findings;
  const span = { text: "", line, start: 0, end: 0 };
  const message = say`This line is not valid UTF-8: llama-server rejects the whole file.`;
  return [findingAt(span, "error", "invalidUtf8", message), ...findings];
}

/** Index of the first line that is not valid UTF-8. */
function invalidLine(bytes: Uint8Array): number | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    decoder.decode(bytes);
    return undefined;
  } catch {
    // the line is looked for below
  }
  let line = 0;
  let start = 0;
  for (let index = 0; index <= bytes.length; index++) {
    const byte = bytes[index];
    if (byte !== undefined && byte !== 10 && byte !== 13) continue;
    try {
      decoder.decode(bytes.subarray(start, index));
    } catch {
      return line;
    }
    if (byte === 13 && bytes[index + 1] === 10) index++;
    start = index + 1;
    line++;
  }
  return line - 1;
}
