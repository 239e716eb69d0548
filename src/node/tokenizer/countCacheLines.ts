import { crc32 } from "node:zlib";
import { isText } from "../../core/text";
import { isFileKind, type FileMark } from "../../core/files/fileKinds";
import type { LongRun } from "../../core/tokens/longRuns";
import type { TextLook } from "../../core/tokens/textLook";
import type { TextEncoding } from "../../core/files/files";
import type { KeptFile } from "../../core/tokens/keptCount";

export type CacheLine =
  | {
      readonly kind: "file";
      readonly path: string;
      readonly size: number;
      readonly mtimeMs: number;
      /** Empty where it is not known. */
      readonly stamp: string;
      readonly kept: KeptFile;
    }
  | { readonly kind: "prompt"; readonly key: string; readonly tokens: number };

/**
 * One line: a checksum, a blank and `["f",path,size,time,stamp,key,tokens,encoding,form,mark,sketch,line,length]`,
 * `["b",path,size,time,stamp,detail]` for a binary file, `["p",key,tokens]` for a prompt. Ends with a line break.
 */
export function writeLine(line: CacheLine): string {
  const json = JSON.stringify(valuesOf(line));
  return `${checksum(json)} ${json}\n`;
}

/** CRC-32 in eight digits. */
const checksum = (text: string): string => crc32(text).toString(16).padStart(8, "0");

function valuesOf(line: CacheLine): readonly unknown[] {
  if (line.kind === "prompt") return ["p", line.key, line.tokens];
  const { path, size, mtimeMs, stamp, kept } = line;
  if (kept.kind === "skipped") return ["b", path, size, mtimeMs, stamp, kept.detail ?? ""];
  const { mark, sketch, longRun } = kept.look;
  const rest = [kept.key, kept.tokens, kept.encoding ?? "", kept.form ?? "", mark ?? null];
  const run = longRun === undefined ? [] : [longRun.line, longRun.length];
  return ["f", path, size, mtimeMs, stamp, ...rest, sketch === undefined ? "" : pack(sketch), ...run];
}

/** Undefined for what `writeLine` did not write, and for what is no longer as it wrote it. */
export function readLine(text: string): CacheLine | undefined {
  const json = text.slice(9);
  if (text[8] !== " " || text.slice(0, 8) !== checksum(json)) return undefined;
  let values: unknown;
  try {
    values = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!Array.isArray(values)) return undefined;
  const fields = values as readonly unknown[];
  switch (fields[0]) {
    case "p": {
      const [, key, tokens] = fields;
      return typeof key === "string" && isCount(tokens) ? { kind: "prompt", key, tokens } : undefined;
    }
    case "b": {
      const detail = fields[5];
      if (typeof detail !== "string") return undefined;
      return fileLine(fields, {
        kind: "skipped",
        reason: "binary",
        ...(detail !== "" && { detail }),
      });
    }
    case "f": {
      const kept = counted(fields.slice(5));
      return kept && fileLine(fields, kept);
    }
    default:
      return undefined;
  }
}

function fileLine([, path, size, mtimeMs, stamp]: readonly unknown[], kept: KeptFile): CacheLine | undefined {
  if (typeof path !== "string" || !isCount(size) || typeof mtimeMs !== "number") return undefined;
  return typeof stamp === "string" ? { kind: "file", path, size, mtimeMs, stamp, kept } : undefined;
}

const encodings: readonly TextEncoding[] = ["utf8", "utf16", "foreign", "replaced"];

function counted(fields: readonly unknown[]): KeptFile | undefined {
  const [key, tokens, encodingName, form, mark, sketch, line, length] = fields;
  if (typeof key !== "string" || !isCount(tokens) || typeof sketch !== "string") return undefined;
  if (mark !== null && !isMark(mark)) return undefined;
  const encoding = encodings.find((name) => name === encodingName);
  const look: TextLook = {
    ...(mark !== null && { mark }),
    ...(sketch !== "" && { sketch: unpack(sketch) }),
    ...(isCount(line) && isCount(length) && { longRun: { line, length } satisfies LongRun }),
  };
  return {
    kind: "counted",
    key,
    tokens,
    look,
    ...(encoding !== undefined && { encoding }),
    ...(form === "notebook" && { form }),
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function isMark(value: unknown): value is FileMark {
  return (
    typeof value === "object" &&
    value !== null &&
    "kind" in value &&
    isFileKind(value.kind) &&
    "evidence" in value &&
    isText(value.evidence)
  );
}

function pack(sketch: Uint32Array): string {
  return Buffer.from(sketch.buffer, sketch.byteOffset, sketch.byteLength).toString("base64");
}

function unpack(text: string): Uint32Array {
  const bytes = Buffer.from(text, "base64");
  const sketch = new Uint32Array(Math.floor(bytes.length / 4));
  for (let at = 0; at < sketch.length; at++) sketch[at] = bytes.readUInt32LE(4 * at);
  return sketch;
}
