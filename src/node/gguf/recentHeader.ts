import { stat } from "node:fs/promises";
import path from "node:path";
import type { GgufHeader } from "../../core/model/ggufHeader";
import { isUrl, readGgufHeader } from "./ggufModelSource";

/** Keeps the header that was read last: most of one is vocabulary, up to tens of megabytes that every estimate would read. */
export class RecentHeader {
  private kept: { readonly of: string; readonly header: GgufHeader } | undefined;

  /** A file of several parts, and what is not on this machine, is read every time. */
  async read(file: string, signal: AbortSignal): Promise<GgufHeader> {
    const of = isUrl(file) || /-\d{5}-of-\d{5}\.gguf$/i.test(file) ? undefined : await identityOf(file);
    if (of !== undefined && this.kept?.of === of) return this.kept.header;
    const header = await readGgufHeader(file, signal);
    if (of !== undefined && (await identityOf(file)) === of) this.kept = { of, header };
    return header;
  }
}

/** Changes whenever the file is written or another takes its place. */
async function identityOf(file: string): Promise<string | undefined> {
  const stats = await stat(file, { bigint: true }).catch(() => undefined);
  return stats && [path.resolve(file), stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join("\n");
}
