import { parseTemplate, runTemplate } from "./boundedJinja";
import { strftime } from "./strftime";
import type { TemplateJob } from "./templateJob";

type Messages = readonly Readonly<Record<string, unknown>>[];

/**
 * The prompt llama-server makes of one user message (`common_chat_templates_apply_jinja`): the variables it gives, content
 * as text or, where the template fails on text, as parts, thinking on where llama.cpp's analysis would say the
 * template thinks, and a BOS or EOS left out that tokenizing adds again.
 * @throws whatever the template raises; where it cannot be known what llama.cpp would do
 */
export function chatPrompt({ source, ends, variables, message }: TemplateJob): string {
  const program = parseTemplate(source);
  const render = (messages: Messages, more: Readonly<Record<string, unknown>>): string =>
    runTemplate(program, {
      messages,
      bos_token: ends?.bos ?? "",
      eos_token: ends?.eos ?? "",
      ...dates(),
      ...more,
      ...variables,
    });
  const content = contentFor((its) => render(its, { add_generation_prompt: true }));
  const user = (text: string): Messages => [{ role: "user", content: content(text) }];
  const asked = (text: string, thinking: boolean): string =>
    render(user(text), { enable_thinking: thinking, add_generation_prompt: true });

  const thinks =
    "enable_thinking" in variables ||
    llamaThinks(source, [asked("?", false), asked("?", true)], () =>
      render([...user("?"), { role: "assistant", content: content("!"), reasoning_content: thought }], {
        enable_thinking: true,
      }),
    );
  return withoutEnds(asked(message, thinks), ends);
}

/** llama.cpp calls a template with a text, and where it fails, with parts (`caps_get`). */
function contentFor(render: (messages: Messages) => string): (text: string) => unknown {
  const parts = (text: string): unknown => [{ type: "text", text }];
  try {
    render([{ role: "user", content: "content" }]);
    return (text) => text;
  } catch (error) {
    try {
      render([{ role: "user", content: parts("content") }]);
      return parts;
    } catch {
      throw error;
    }
  }
}

const thought = "LlamaGaugeThought51c2";

/**
 * Whether `enable_thinking` is true by default: llama.cpp asks whether its analysis of the template finds reasoning
 * (`common_chat_templates_support_enable_thinking`). @param prompts without and with thinking
 */
function llamaThinks(
  source: string,
  [without, withThinking]: readonly [string, string],
  answered: () => string,
): boolean {
  if (without === withThinking) return true;
  const has = (...texts: readonly string[]): boolean => texts.every((text) => source.includes(text));
  // templates that have a handler of their own
  if (has("<|channel|>")) return true;
  if (has("[SYSTEM_PROMPT]", "[TOOL_CALLS]", "[ARGS]") && !has("[CALL_ID]")) return true;
  // and those that the analysis is told about
  if (has("content.split('</think>')")) return true;
  if (has("Write your thoughts between <think></think>")) return true;
  if (showsThought(answered)) return true;
  const [shorter, longer] = [without.trimEnd(), withThinking.trimEnd()];
  if (longer.startsWith(shorter)) return true;
  if (commonEnd(without, withThinking) > 0) return false;
  throw new Error("whether llama.cpp lets this template think is not known");
}

/** With a marker behind it, as the analysis wants it. */
function showsThought(answered: () => string): boolean {
  try {
    const after = answered().split(thought)[1];
    return after !== undefined && /^\s*(<[^>]*>|\[[^\]]*\])/.test(after);
  } catch {
    return false;
  }
}

function commonEnd(a: string, b: string): number {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a.at(-1 - length) === b.at(-1 - length)) length++;
  return length;
}

/** `common_chat_extra_context`. */
function dates(): { readonly datetime: string; readonly date_string: string } {
  const now = new Date();
  return { datetime: strftime(now, "%b %d %Y"), date_string: strftime(now, "%d %b %Y") };
}

function withoutEnds(prompt: string, ends: TemplateJob["ends"]): string {
  if (ends === undefined) return prompt;
  const { bos, eos, addBos, addEos } = ends;
  const start = addBos && prompt.startsWith(bos) ? bos.length : 0;
  const rest = prompt.slice(start);
  return addEos && eos !== "" && rest.endsWith(eos) ? rest.slice(0, -eos.length) : rest;
}
