import { largest } from "../lists";
import type { LaunchOptions } from "../launch/launchOptions";

/** `--spec-draft-n-max` where it is not given. */
const defaultDraft = 3;

/** What an n-gram draft proposes at once: seen as `n_outputs_max` − 1 in the log of build 11669, defaults of its `--help`. */
const ngramDrafts: Readonly<Record<string, (options: LaunchOptions) => number>> = {
  "ngram-simple": ({ specNgramSimpleSizeM = 48 }) => specNgramSimpleSizeM,
  "ngram-map-k": ({ specNgramMapKSizeM = 48 }) => specNgramMapKSizeM,
  "ngram-map-k4v": ({ specNgramMapK4vSizeM = 48 }) => specNgramMapK4vSizeM,
  "ngram-mod": ({ specNgramModNMax = 64 }) => specNgramModNMax,
  "ngram-cache": () => 8,
};

/** Most tokens that are drafted at once, by a model or from the text itself; 0 without a draft. */
export function draftedTokens(options: LaunchOptions): number {
  const types = (options.specType ?? []).filter((type) => type !== "none");
  const models = types.filter((type) => ngramDrafts[type] === undefined).length;
  const byModel =
    models > 0 || options.specDraftModel !== undefined ? (options.specDraftNMax ?? defaultDraft) : 0;
  return largest(
    types.map((type) => ngramDrafts[type]?.(options) ?? 0),
    byModel,
  );
}
