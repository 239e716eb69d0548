import type { PromptEnds } from "../../core/tokens/kernel/promptEnds";

/** A chat template to render around one user message, with what llama-server gives it. */
export interface TemplateJob {
  /** Jinja. */
  readonly source: string;
  /** Absent: the vocabulary is not at hand; the template then gets empty texts. */
  readonly ends?: PromptEnds;
  /** Variables of `--chat-template-kwargs` and the options that stand for some. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export type TemplateReply =
  | { readonly kind: "rendered"; readonly prompt: string }
  /** In the template's own words, or those of the interpreter. */
  | { readonly kind: "failed"; readonly problem: string };
