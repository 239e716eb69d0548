import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { openUrl, type UrlAccess } from "./ggufHeaderUrl";
import { wholeHeader } from "./ggufModelSource";

/**
 * Reads the header of a model at an address, by ranges where the server knows them, and lends it as a file while `use`
 * runs: what reads vocabularies reads files. Some 10 MB at most for the models there are; no weights.
 * @throws UserError where the address cannot be read or is no GGUF
 */
export async function withRemoteHeader<T>(
  url: string,
  signal: AbortSignal,
  use: (file: string) => Promise<T>,
  access: UrlAccess = {},
): Promise<T> {
  const source = await openUrl(url, signal, access);
  const folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-header-"));
  try {
    const { header, bytes } = await wholeHeader(source, url);
    const file = path.join(folder, "header.gguf");
    await writeFile(file, bytes.subarray(0, header.headerBytes), { signal });
    return await use(file);
  } finally {
    await source.close();
    await rm(folder, { recursive: true, force: true });
  }
}
