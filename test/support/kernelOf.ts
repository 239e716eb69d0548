import type { TokenizerSpec } from "../../src/core/model/tokenizerSpec";
import { compileVocabulary } from "../../src/core/tokens/kernel/compiledVocabulary";
import { tokenizerOf, type Kernel } from "../../src/core/tokens/kernel/kernel";
import { readVocabulary } from "../../src/node/tokenizer/vocabularyFile";

/** @throws UserError for a tokenizer that is not known or a vocabulary that is broken. */
export const createTokenizerFrom = (spec: TokenizerSpec): Kernel => tokenizerOf(compileVocabulary(spec));

/** Our tokenizer of a GGUF file. */
export const kernelOf = (file: string): Kernel => createTokenizerFrom(readVocabulary(file));

export interface Difference {
  readonly text: string;
  /** Index of the first id that differs. */
  readonly at: number;
  readonly counted: number;
  readonly ours: readonly number[];
  readonly real: readonly number[];
}

/** Texts whose ids differ from the expected ones, with what stands around the first difference. */
export function differences(
  kernel: Kernel,
  texts: readonly (string | Uint8Array)[],
  expected: readonly (readonly number[])[],
  options: { readonly parseSpecial: boolean; readonly addSpecial?: boolean },
): Difference[] {
  return texts.flatMap((text, i) => {
    const real = expected[i] ?? [];
    const ours = Array.from(kernel.encode(text, options));
    const counted = kernel.count(text, options);
    const same =
      counted === real.length && ours.length === real.length && ours.every((id, k) => id === real[k]);
    if (same) return [];
    const at = ours.findIndex((id, k) => id !== real[k]);
    const around = (ids: readonly number[]) => ids.slice(Math.max(0, at - 4), at + 8);
    return [{ text: String(text).slice(0, 200), at, counted, ours: around(ours), real: around(real) }];
  });
}
