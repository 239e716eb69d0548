import path from "node:path";
import type { Tokenizer } from "../core/ports";
import { createTokenizerFrom, type Kernel, type TokenizeOptions } from "../core/tokens/kernel/kernel";
import type { CountedText, TokenizerIdentity } from "../core/tokens/tokenCount";
import type { TokenizerSpec } from "../core/model/tokenizerSpec";
import { readVocabulary } from "./vocabularyFile";

export interface GgufTokenizerOptions {
  readonly signal: AbortSignal;
  /** Where compiled vocabularies and counts are kept; without it nothing is kept. */
  readonly cacheDir?: string;
}

/** The tokenizer of a GGUF file, offline and exact. */
export interface GgufTokenizer extends Tokenizer {
  /** Token ids; bytes are taken as they are. */
  encode(
    text: string | Uint8Array,
    options: Pick<TokenizeOptions, "addSpecial" | "parseSpecial">,
    signal: AbortSignal,
  ): Promise<Int32Array>;
  close(): Promise<void>;
}

/**
 * Opens the vocabulary of a GGUF file.
 * @throws UserError when the file or its vocabulary is broken or its tokenizer is not known.
 */
export function openGgufTokenizer(file: string, options: GgufTokenizerOptions): Promise<GgufTokenizer> {
  options.signal.throwIfAborted();
  const spec = readVocabulary(file);
  return Promise.resolve(new InProcessTokenizer(createTokenizerFrom(spec), identityOf(file, spec)));
}

function identityOf(file: string, spec: TokenizerSpec): TokenizerIdentity {
  return {
    source: "gguf",
    model: spec.name === "" ? path.basename(file) : spec.name,
    pre: spec.pre ?? spec.model,
  };
}

class InProcessTokenizer implements GgufTokenizer {
  constructor(
    private readonly kernel: Kernel,
    readonly identity: TokenizerIdentity,
  ) {}

  async count(texts: readonly string[], signal: AbortSignal): Promise<readonly CountedText[]> {
    const counted: CountedText[] = [];
    for (const text of texts) {
      await new Promise(setImmediate);
      const tokens = this.kernel.count(text, {
        parseSpecial: true,
        checkpoint: () => signal.throwIfAborted(),
      });
      counted.push({ tokens });
    }
    return counted;
  }

  async countPrompt(prompt: string, signal: AbortSignal): Promise<number> {
    await new Promise(setImmediate);
    return this.kernel.count(prompt, {
      addSpecial: true,
      parseSpecial: true,
      checkpoint: () => signal.throwIfAborted(),
    });
  }

  async encode(
    text: string | Uint8Array,
    options: Pick<TokenizeOptions, "addSpecial" | "parseSpecial">,
    signal: AbortSignal,
  ): Promise<Int32Array> {
    await new Promise(setImmediate);
    return this.kernel.encode(text, { ...options, checkpoint: () => signal.throwIfAborted() });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
