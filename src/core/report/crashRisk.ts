import { count, say, type Text } from "../text";
import type { LongRun } from "../tokens/longRuns";
import type { CountedFile, TokenCount } from "../tokens/tokenCount";
import { visibleName } from "../visibleName";

/** A file whose text may crash the tokenizer of the server it is sent to. */
export interface RiskyFile extends CountedFile {
  readonly longRun: LongRun;
}

/** Those that are in the prompt. */
export function riskyFiles({
  tokens,
  leftOut,
}: {
  readonly tokens: Pick<TokenCount, "files">;
  readonly leftOut?: readonly string[];
}): readonly RiskyFile[] {
  const out = new Set(leftOut);
  return tokens.files.filter(isRisky).filter(({ file }) => !out.has(file.path));
}

const isRisky = (file: CountedFile): file is RiskyFile => file.longRun !== undefined;

/** Name in a word or two, beside the file. */
export const crashRiskName = say`may crash llama-server`;

/** What and where, in one sentence. */
export const crashRiskText = ({ file, longRun }: RiskyFile): Text =>
  say`${visibleName(file.label)}, line ${String(longRun.line)}: ${count(longRun.length)} character[s] of one kind in a row may crash llama-server's tokenizer, depending on how its build was compiled.`;

export const crashRiskRemedy = say`Exclude the file, or break up the run before you send it.`;
