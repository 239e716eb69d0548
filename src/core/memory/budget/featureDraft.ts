import type { LaunchOptions } from "../../launch/launchOptions";
import type { Model } from "../../model/model";
import type { ContextPlan } from "../contextPlan";

/** Drafts that read features of the target's layers, and may use its embedding and output matrices. */
export const readsFeatures = (model: Model): boolean => /^(eagle3|dflash)$/.test(model.architecture);

/** Whether it has an output matrix of its own. */
export const ownOutput = (model: Model): boolean =>
  model.tensors.all.some(({ name }) => name === "output.weight");

/**
 * What the logits of such a draft need (build 11669, to the hundredth of a MiB that its log prints): llama-server keeps them
 * for every token of a ubatch, and once more where the draft is sampled by the backend. A smaller vocabulary of its own
 * (`d2t`) is spread over the target's, while mask and hidden state are still there.
 */
export function draftLogits(model: Model, plan: ContextPlan, options: LaunchOptions): number {
  const rows = Math.min(plan.ubatch, plan.batch);
  const all = 4 * model.vocabularySize * rows;
  const own = model.tensors.all.find(({ name }) => name === "d2t")?.info.shape[0];
  const hidden = 4 * plan.ubatch * model.embeddingLength;
  const mask = plan.slot.nCtxSeq * plan.ubatch * (plan.flashAttention ? 2 : 4);
  const beside = own === undefined ? 2 * hidden : mask + hidden;
  const sampled = options.specDraftBackendSampling === false ? 0 : all + 4 * model.vocabularySize;
  return all + beside + Math.max(sampled, 4 * (own ?? 0) * rows);
}
