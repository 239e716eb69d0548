import type { LaunchOptions } from "../launch/launchOptions";
import type { MetadataValue } from "../model/ggufHeader";
import { say, type Text } from "../text";
import { builtInTemplate } from "./builtInTemplates";
import type { ChatTemplate } from "./chatTemplate";

/** Where a chat template comes from. */
export type TemplateOrigin =
  /** A running server rendered its own. */
  | { readonly from: "server" }
  /** `tokenizer.chat_template` of the model's file, or that of another name. */
  | { readonly from: "model"; readonly name?: string }
  /** `--chat-template`, `--chat-template-file`. */
  | { readonly from: "option" }
  | { readonly from: "file"; readonly path: string }
  /** One of llama.cpp's own. */
  | { readonly from: "builtIn"; readonly name: string }
  /** llama.cpp's ChatML, for a model without a template. */
  | { readonly from: "fallback" };

/** Which template llama-server would use, before it is rendered. */
export type TemplateSource =
  | { readonly kind: "jinja"; readonly source: string; readonly origin: TemplateOrigin }
  | { readonly kind: "known"; readonly template: ChatTemplate; readonly origin: TemplateOrigin }
  | { readonly kind: "unusable"; readonly note: Text };

/** It lies in a file, whose text goes to `templateOfFile`. */
export interface TemplateFile {
  readonly kind: "file";
  readonly path: string;
}

/** llama.cpp's `CHATML_TEMPLATE_SRC`, in other words. */
const chatMl =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/**
 * llama-server's choice (`common_chat_templates_init`): the option's, else the header's `tokenizer.chat_template`, else its
 * "tool_use" template, else ChatML. With Jinja, which is the default, a built-in's name is a template whose text is
 * the name; only "chatml" is meant.
 */
export function templateSource(
  { chatTemplate, jinja = true }: Pick<LaunchOptions, "chatTemplate" | "jinja">,
  metadata: ReadonlyMap<string, MetadataValue>,
): TemplateSource | TemplateFile {
  if (chatTemplate?.kind === "file") return { kind: "file", path: chatTemplate.path };
  const given = chatTemplate?.text ?? "";
  if (!jinja) return withoutJinja(given);
  if (given !== "") return optionSource(given);
  return headerSource(metadata);
}

/** The same where the option's file holds this text. */
export function templateOfFile(
  text: string,
  path: string,
  { jinja = true }: Pick<LaunchOptions, "jinja">,
  metadata: ReadonlyMap<string, MetadataValue>,
): TemplateSource {
  if (text === "") return headerSource(metadata);
  if (!jinja) return withoutJinja(text);
  return { kind: "jinja", source: text, origin: { from: "file", path } };
}

function optionSource(given: string): TemplateSource {
  if (given === "chatml") return { kind: "jinja", source: chatMl, origin: { from: "builtIn", name: given } };
  if (builtInTemplate(given) === undefined) {
    return { kind: "jinja", source: given, origin: { from: "option" } };
  }
  return {
    kind: "unusable",
    note: say`With --jinja, which is the default, llama-server takes --chat-template ${given} for the text of a template: every prompt is the word "${given}", without your message. Add --no-jinja to use the built-in template of this name.`,
  };
}

function withoutJinja(given: string): TemplateSource {
  const template = builtInTemplate(given);
  if (template !== undefined) return { kind: "known", template, origin: { from: "builtIn", name: given } };
  return {
    kind: "unusable",
    note: say`The chat template's tokens are not counted: with --no-jinja, llama-server guesses one of its built-in templates. Name it with --chat-template, or start the server.`,
  };
}

const key = "tokenizer.chat_template";

function headerSource(metadata: ReadonlyMap<string, MetadataValue>): TemplateSource {
  const own = metadata.get(key);
  if (own !== undefined && typeof own !== "string") {
    return {
      kind: "unusable",
      note: say`The chat template's tokens are not counted: ${key} in the model's header is not a text.`,
    };
  }
  if (own !== undefined && own !== "" && own !== "chatml") {
    return { kind: "jinja", source: own, origin: { from: "model" } };
  }
  const tools = metadata.get(`${key}.tool_use`);
  if (typeof tools === "string" && tools !== "") {
    return { kind: "jinja", source: tools, origin: { from: "model", name: "tool_use" } };
  }
  return { kind: "jinja", source: chatMl, origin: { from: "fallback" } };
}

/** The variables that `--chat-template-kwargs` and the reasoning options give a template; the last one given counts. */
export function templateVariables({
  chatTemplateKwargs = [],
}: Pick<LaunchOptions, "chatTemplateKwargs">): Readonly<Record<string, unknown>> {
  let all: Record<string, unknown> = {};
  for (const text of chatTemplateKwargs) {
    const value: unknown = parsed(text);
    // not with Object.assign, to which a "__proto__" is more than a name
    if (typeof value === "object" && value !== null) all = { ...all, ...value };
  }
  // "--reasoning-effort default" takes back what an earlier one said
  if (all["reasoning_effort"] === null) delete all["reasoning_effort"];
  return all;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // llama-server does not start with it, and the check of the command line says so
    return undefined;
  }
}
