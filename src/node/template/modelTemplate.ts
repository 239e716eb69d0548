import path from "node:path";
import {
  templateOfFile,
  templateSource,
  templateVariables,
  type TemplateSource,
} from "../../core/acceptance/templateSource";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import type { GgufHeader } from "../../core/model/ggufHeader";
import { measuredTemplate, type TemplateChoice } from "../../core/report/promptCount";
import { say } from "../../core/text";
import type { PromptEnds } from "../../core/tokens/kernel/promptEnds";
import type { TemplateJob } from "./templateJob";
import { readDirectly } from "../reading/readDirectly";
import { errorCode } from "../waiting/within";

export type RenderTemplate = (job: TemplateJob, signal: AbortSignal) => Promise<string>;

export interface TemplateSetting {
  readonly launch: LaunchOptions;
  readonly header: GgufHeader;
  readonly ends?: PromptEnds;
}

/** The chat template llama-server would put around a message with this model and these options, without a server. */
export function modelTemplate(
  setting: TemplateSetting,
  render: RenderTemplate,
): (signal: AbortSignal) => Promise<TemplateChoice> {
  return async (signal) => {
    const found = sourceOf(setting);
    if (found.kind === "unusable") return { kind: "unknown", note: found.note };
    const { origin } = found;
    if (found.kind === "known") return { kind: "chat", template: found.template, origin };
    const { ends, launch } = setting;
    const job = { source: found.source, ...(ends && { ends }), variables: templateVariables(launch) };
    return measuredTemplate((message) => render({ ...job, message }, signal), origin, signal);
  };
}

/** The largest template we know has 20 000 characters. */
const mostBytes = 1 << 20;

function sourceOf({ launch, header: { metadata } }: TemplateSetting): TemplateSource {
  const found = templateSource(launch, metadata);
  if (found.kind !== "file") return found;
  const file = path.resolve(found.path);
  const read = readTemplate(file);
  if (read.kind === "text") return templateOfFile(read.text, file, launch, metadata);
  return {
    kind: "unusable",
    note: say`The chat template's tokens are not counted: ${file} (--chat-template-file) cannot be read (${read.why}).`,
  };
}

type TemplateText =
  { readonly kind: "text"; readonly text: string } | { readonly kind: "unread"; readonly why: string };

function readTemplate(file: string): TemplateText {
  try {
    const read = readDirectly({ path: file, label: file, bytes: 0, mtimeMs: 0 }, mostBytes);
    if (read.kind === "read") return { kind: "text", text: read.bytes.toString("utf8") };
    return {
      kind: "unread",
      why: read.kind === "longer" ? "EFBIG" : (read.skipped.detail ?? read.skipped.reason),
    };
  } catch (error) {
    const why = errorCode(error);
    if (why === undefined) throw error;
    return { kind: "unread", why };
  }
}
