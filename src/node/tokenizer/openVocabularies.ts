import { stat } from "node:fs/promises";
import path from "node:path";
import type { GgufTokenizer } from "./ggufTokenizer";
import { within } from "../waiting/within";
import { withLimit } from "../waiting/withLimit";

/** Vocabularies that stay open; the one not used for longest is closed for another. */
const mostOpen = 2;
const openLimitMs = 120_000;

/**
 * Vocabularies that stay open between estimates, so that each is read once; a file that has changed is opened again.
 * Opening goes on when one of those who wait for it gives up.
 */
export class OpenVocabularies {
  /** By path, size and time; the last used stand last. */
  private readonly opened = new Map<string, Promise<GgufTokenizer>>();
  private readonly ending = new AbortController();

  constructor(private readonly open: (file: string, signal: AbortSignal) => Promise<GgufTokenizer>) {}

  async get(file: string, signal: AbortSignal): Promise<GgufTokenizer> {
    const key = await identityOf(file);
    const known = this.opened.get(key);
    const opening = known ?? withLimit(this.ending.signal, openLimitMs, (signal) => this.open(file, signal));
    this.opened.delete(key);
    this.opened.set(key, opening);
    if (known === undefined) {
      opening.catch(() => this.opened.delete(key));
      this.closeOldest();
    }
    return within(opening, openLimitMs, signal);
  }

  async close(): Promise<void> {
    this.ending.abort();
    const all = Array.from(this.opened.values());
    this.opened.clear();
    await Promise.all(all.map(closed));
  }

  private closeOldest(): void {
    for (const [key, oldest] of this.opened) {
      if (this.opened.size <= mostOpen) return;
      this.opened.delete(key);
      closed(oldest).catch(() => undefined);
    }
  }
}

async function closed(opening: Promise<GgufTokenizer>): Promise<void> {
  const tokenizer = await opening.catch(() => undefined);
  await tokenizer?.close();
}

/** A file that is not there fails where it is opened. */
async function identityOf(file: string): Promise<string> {
  const stats = await stat(file).catch(() => undefined);
  return JSON.stringify([path.resolve(file), stats?.size, stats?.mtimeMs]);
}
