import path from "node:path";
import type { CountCache } from "../core/tokens/keptCount";
import { openCountCache } from "../node/tokenizer/countCache";
import { FitProbe } from "../node/machine/fitProbe";
import { RecentHeader } from "../node/gguf/recentHeader";
import { openGgufTokenizer, type GgufTokenizer } from "../node/tokenizer/ggufTokenizer";
import { TemplateRenderer } from "../node/template/templateRenderer";
import { OpenVocabularies } from "../node/tokenizer/openVocabularies";

export interface CacheOptions {
  /** Folder of ours; what is in it may be removed at any time. */
  readonly folder: string;
  /** Of the product: other code may count otherwise. */
  readonly version: string;
  /** A counting thread died; its work is done again. */
  readonly onCrash?: (cause: Error) => void;
}

/** What is compiled, counted or asked once: on disk for the next process, and open for the next estimate. */
export class Caches {
  /** Remembers what llama-fit-params said. */
  readonly fitProbe = new FitProbe();
  readonly templates = new TemplateRenderer();
  readonly headers = new RecentHeader();
  readonly #vocabularies: OpenVocabularies;
  #counts: { readonly of: string; readonly opened: Promise<CountCache> } | undefined;

  constructor(private readonly options: CacheOptions) {
    const { folder, onCrash } = options;
    const cacheDir = path.join(folder, "vocabularies");
    this.#vocabularies = new OpenVocabularies((file, signal) =>
      openGgufTokenizer(file, { signal, cacheDir, ...(onCrash && { onCrash }) }),
    );
  }

  /** The vocabulary of a GGUF; it stays open. */
  vocabulary(file: string, signal: AbortSignal): Promise<GgufTokenizer> {
    return this.#vocabularies.get(file, signal);
  }

  /** The counts of one tokenizer by this version of the product; the last ones stay open. */
  counts(fingerprint: string): Promise<CountCache> {
    if (this.#counts?.of !== fingerprint) {
      this.#counts = { of: fingerprint, opened: this.#open(fingerprint) };
    }
    return this.#counts.opened;
  }

  async close(): Promise<void> {
    await this.#vocabularies.close();
  }

  #open(fingerprint: string): Promise<CountCache> {
    const { folder, version } = this.options;
    return openCountCache({ folder: path.join(folder, "counts"), fingerprint: `${version} ${fingerprint}` });
  }
}
