/** What a chat template puts around one user message. */
export interface ChatTemplate {
  readonly prefix: string;
  readonly suffix: string;
  /** The template strips white space at both ends of the message. */
  readonly trims: boolean;
}

/** Why a template cannot be measured: it left the message out, or used it more than once. */
export type TemplateProblem = "dropped" | "repeated";

export type MeasuredTemplate =
  | { readonly kind: "measured"; readonly template: ChatTemplate }
  | { readonly kind: "unusable"; readonly problem: TemplateProblem };

const marker = "LlamaGaugeMarker7f3ad1";

/** The user message whose rendering is given to `measureTemplate`. White space at its ends shows whether it is kept. */
export const templateProbe = `\n ${marker} \n`;

/** What the template put around `templateProbe`. */
export function measureTemplate(rendered: string): MeasuredTemplate {
  const whole = splitAtMarker(rendered, templateProbe);
  if (whole.kind === "split") return measured(whole.prefix, whole.suffix, false);
  const trimmed = splitAtMarker(rendered, marker);
  if (trimmed.kind === "split") return measured(trimmed.prefix, trimmed.suffix, true);
  return { kind: "unusable", problem: trimmed.kind };
}

const measured = (prefix: string, suffix: string, trims: boolean): MeasuredTemplate => ({
  kind: "measured",
  template: { prefix, suffix, trims },
});

export type MarkerSplit =
  | { readonly kind: "split"; readonly prefix: string; readonly suffix: string }
  | { readonly kind: TemplateProblem };

/** Text before and after the only occurrence of the marker. */
export function splitAtMarker(rendered: string, wanted: string): MarkerSplit {
  const at = rendered.indexOf(wanted);
  if (at < 0) return { kind: "dropped" };
  const after = at + wanted.length;
  if (rendered.includes(wanted, after)) return { kind: "repeated" };
  return { kind: "split", prefix: rendered.slice(0, at), suffix: rendered.slice(after) };
}

/** The prompt the server would make of this user message. */
export function renderPrompt(template: ChatTemplate, message: string): string {
  return template.prefix + (template.trims ? trimAscii(message) : message) + template.suffix;
}

/** `renderPrompt` of a message in pieces; joined they are the same. */
export function renderPieces(template: ChatTemplate, message: readonly string[]): readonly string[] {
  const pieces = message.filter((piece) => piece !== "");
  while (template.trims && pieces[0] !== undefined) {
    pieces[0] = trimStart(pieces[0]);
    if (pieces[0] !== "") break;
    pieces.shift();
  }
  while (template.trims && pieces.length > 0) {
    const end = trimEnd(pieces.pop() ?? "");
    if (end === "") continue;
    pieces.push(end);
    break;
  }
  return [template.prefix, ...pieces, template.suffix];
}

/** Jinja's `trim` as llama.cpp has it: the white space of C's `isspace`, unlike JavaScript's. */
function trimAscii(text: string): string {
  return trimEnd(trimStart(text));
}

const trimStart = (text: string): string => text.replace(/^[ \t\n\v\f\r]+/, "");
const trimEnd = (text: string): string => text.replace(/[ \t\n\v\f\r]+$/, "");
