import path from "node:path";
import type { GgufHeader, TensorInfo, ModelSource } from "../../core/model/ggufHeader";
import { skimGguf, type SkimmedHeader } from "../../core/model/ggufSkim";
import { count, say } from "../../core/text";
import { UserError } from "../../core/userError";
import { openFile } from "./ggufHeaderFile";
import { openUrl, type UrlAccess } from "./ggufHeaderUrl";
import { parseHeader, type GgufPart } from "./ggufParse";
import type { HeaderBytes } from "./headerBytes";

/** Above the largest vocabulary known (about 20 MiB); a header asking for more is lying. */
const maxHeaderBytes = 128 * 2 ** 20;
const maxParts = 1000;

export function ggufModelSource(access: UrlAccess = {}): ModelSource {
  return { readHeader: (locator, signal) => readGgufHeader(locator, signal, access) };
}

/**
 * Header of a local GGUF (path) or a remote one (http/https, through ranges), all shards together. The vocabulary is
 * left out before @huggingface/gguf reads it, so that it takes some tens of milliseconds; a worker is not needed.
 */
export async function readGgufHeader(
  locator: string,
  signal: AbortSignal,
  access: UrlAccess = {},
): Promise<GgufHeader> {
  const names = partNames(locator);
  const parts: GgufPart[] = [];
  let fileBytes = 0;
  let truncated = false;
  for (const name of names) {
    const { part, bytes } = await readPart(name, signal, access, names.length);
    parts.push(part);
    fileBytes += bytes;
    truncated ||= part.dataEnd > bytes;
    if (parts.length === 1) expectParts(part, names.length, locator);
  }
  const [first] = parts;
  if (first === undefined) throw new Error("a model has at least one part");
  const tensors: TensorInfo[] = parts.flatMap((part) => part.tensors);
  return {
    locator,
    metadata: first.metadata,
    tensors,
    fileBytes,
    ...(first.vocabularySize === undefined ? {} : { vocabularySize: first.vocabularySize }),
    ...(truncated ? { truncated } : {}),
  };
}

async function readPart(
  name: string,
  signal: AbortSignal,
  access: UrlAccess,
  parts: number,
): Promise<{ readonly part: GgufPart; readonly bytes: number }> {
  const source = await open(name, signal, access, parts);
  try {
    const { header } = await wholeHeader(source, name);
    return { part: await parseHeader(header, shortName(name)), bytes: source.fileBytes };
  } finally {
    await source.close();
  }
}

/** The header, and the file's first bytes with it whole. */
export async function wholeHeader(
  source: HeaderBytes,
  name: string,
): Promise<{ readonly header: SkimmedHeader; readonly bytes: Uint8Array }> {
  let wanted = 0;
  for (;;) {
    const bytes = await source.first(wanted);
    const skim = skimGguf(bytes, shortName(name));
    if (skim.kind === "done") return { header: skim.header, bytes };
    if (skim.bytes > source.fileBytes) {
      throw new UserError(
        "invalidInput",
        say`${shortName(name)} ends in the middle of its header.`,
        say`Download it again.`,
      );
    }
    if (skim.bytes > maxHeaderBytes) {
      throw new UserError(
        "tooLarge",
        say`The header of ${shortName(name)} claims an impossible size.`,
        say`Check the download, or choose another file.`,
      );
    }
    wanted = skim.bytes;
  }
}

async function open(
  name: string,
  signal: AbortSignal,
  access: UrlAccess,
  parts: number,
): Promise<HeaderBytes> {
  try {
    return isUrl(name) ? await openUrl(name, signal, access) : await openFile(name, signal);
  } catch (error) {
    if (parts > 1 && error instanceof UserError && error.reason === "notFound") {
      throw new UserError(
        "notFound",
        say`Part ${shortName(name)} of this model is missing; it has ${count(parts)} part[s].`,
        say`Put all parts into the same folder.`,
        { cause: error },
      );
    }
    throw error;
  }
}

/** `m-00002-of-00003.gguf` stands for all three. */
function partNames(locator: string): readonly string[] {
  const match = /^(.*-)(\d{5})-of-(\d{5})(\.gguf(?:[?#].*)?)$/i.exec(locator);
  const total = Number(match?.[3] ?? 1);
  if (match === null || total < 1 || total > maxParts) return [locator];
  const [, before = "", , of = "", after = ""] = match;
  return Array.from(
    { length: total },
    (_, i) => `${before}${String(i + 1).padStart(5, "0")}-of-${of}${after}`,
  );
}

function expectParts(first: GgufPart, named: number, locator: string): void {
  const stored = first.metadata.get("split.count");
  if (typeof stored !== "number" || stored <= 1 || stored === named) return;
  throw new UserError(
    "notFound",
    say`${shortName(locator)} is one of ${count(stored)} part[s], but its name does not say which: llama.cpp cannot find the others.`,
    say`Restore the parts' names: NAME-00001-of-00003.gguf.`,
  );
}

export const isUrl = (locator: string): boolean => /^https?:\/\//i.test(locator);
export const shortName = (locator: string): string =>
  isUrl(locator) ? (locator.split(/[?#]/)[0] ?? locator) : path.basename(locator);
