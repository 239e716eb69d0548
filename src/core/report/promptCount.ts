import type { PromptParts } from "../acceptance/acceptanceReport";
import { measureTemplate, renderPieces, templateProbe, type ChatTemplate } from "../acceptance/chatTemplate";
import type { LlamaServer } from "../acceptance/serverFacts";
import type { TemplateOrigin } from "../acceptance/templateSource";
import type { CountCache } from "../tokens/keptCount";
import type { Tokenizer } from "../tokens/tokenizer";
import { say, type Text } from "../text";
import { UserError } from "../userError";
import { isNotebook } from "../files/notebookText";
import type { CountedFile } from "../tokens/tokenCount";

export interface PromptCount {
  readonly parts: PromptParts;
  /** Relative half-width where the count is not exact. */
  readonly relativeError?: number;
  readonly notes: readonly Text[];
}

export interface PromptInput {
  /** Those that are in the prompt. */
  readonly files: readonly CountedFile[];
  /** The text that would be sent, in pieces; empty where nothing is left to send. */
  readonly text: AsyncIterable<string>;
  /** What made the text of the files. */
  readonly packing: string;
  readonly tokenizer: Tokenizer;
  readonly template: TemplateChoice;
  readonly cache?: CountCache;
}

/** none: the text is sent as it is (raw); unknown: nobody can render the model's template here. */
export type TemplateChoice =
  | { readonly kind: "none" }
  | { readonly kind: "unknown"; readonly note: Text }
  | { readonly kind: "chat"; readonly template: ChatTemplate; readonly origin: TemplateOrigin };

/** Above this a prompt is counted by its parts: no context holds it, and one request with it would take minutes. */
const wholePromptCharacters = 32 * 2 ** 20;
/** What pieces merging across their seams can change (note on additivity: 0.003 % of a pack). */
const seamError = 0.001;

/**
 * Tokens of the whole prompt: counted once as the server would read it, so that what merges across files, headers and
 * template is right; the parts are differences.
 */
export async function countPrompt(input: PromptInput, signal: AbortSignal): Promise<PromptCount> {
  const { files, tokenizer, template } = input;
  const inFiles = files.reduce((sum, { tokens }) => sum + tokens, 0);
  const { relativeError } = tokenizer.identity;
  const spread = relativeError === undefined ? {} : { relativeError };
  const notes = template.kind === "unknown" ? [template.note] : [];
  const around = template.kind === "chat" ? template.template : { prefix: "", suffix: "", trims: false };
  const templateTokens = await tokenizer.countPrompt(around.prefix + around.suffix, signal);
  const total = await wholePrompt(input, around, signal);
  if (total === undefined) {
    return {
      parts: { files: inFiles, packing: 0, template: templateTokens },
      relativeError: Math.max(relativeError ?? 0, seamError),
      notes: [
        ...notes,
        say`The whole is too large to be counted in one piece; headers and boundaries are not counted.`,
      ],
    };
  }
  return {
    parts: {
      files: inFiles,
      packing: total - templateTokens - inFiles,
      template: templateTokens,
    },
    ...spread,
    notes,
  };
}

/** Undefined where it is too large to be counted at once. */
async function wholePrompt(
  { files, text, packing, tokenizer, cache }: PromptInput,
  around: ChatTemplate,
  signal: AbortSignal,
): Promise<number | undefined> {
  // no text encoding has more than three bytes for one UTF-16 code unit
  const bytes = files.reduce((sum, { file }) => sum + (isNotebook(file.label) ? 0 : file.bytes), 0);
  if (bytes / 3 > wholePromptCharacters) return undefined;
  const key = await cache?.promptKey(
    files.map(({ file }) => file),
    JSON.stringify([packing, around]),
  );
  const kept = key === undefined ? undefined : cache?.promptTokens(key);
  if (kept !== undefined) return kept;
  const pieces = await gathered(text, wholePromptCharacters, signal);
  if (pieces === undefined) return undefined;
  const rendered = renderPieces(around, pieces);
  const total =
    tokenizer.countPromptPieces === undefined
      ? await tokenizer.countPrompt(rendered.join(""), signal)
      : await tokenizer.countPromptPieces(rendered, signal);
  if (key !== undefined) cache?.keepPrompt(key, total);
  return total;
}

/** The server's chat template around one user message, measured on the server. */
export function serverTemplate(server: LlamaServer, signal: AbortSignal): Promise<TemplateChoice> {
  return measuredTemplate((probe) => server.applyTemplate(probe, signal), { from: "server" }, signal);
}

/** The template around one user message. @param render makes the prompt of a message */
export async function measuredTemplate(
  render: (message: string) => Promise<string>,
  origin: TemplateOrigin,
  signal: AbortSignal,
): Promise<TemplateChoice> {
  try {
    const measured = measureTemplate(await render(templateProbe));
    if (measured.kind === "measured") return { kind: "chat", template: measured.template, origin };
    return {
      kind: "unknown",
      note: say`The chat template does not produce one plain message; its tokens are not counted.`,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof UserError)) throw error;
    return { kind: "unknown", note: say`The chat template's tokens are not counted: ${error.problem}` };
  }
}

export const noTemplate: TemplateChoice = {
  kind: "unknown",
  note: say`The chat template's tokens are not counted: there is neither a server nor a model file to take it from.`,
};

async function gathered(
  pieces: AsyncIterable<string>,
  limit: number,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const parts: string[] = [];
  let characters = 0;
  for await (const piece of pieces) {
    signal.throwIfAborted();
    characters += piece.length;
    if (characters > limit) return undefined;
    parts.push(piece);
  }
  return parts;
}
