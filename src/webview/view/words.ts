import { formatNumber, formatText } from "../../core/format";
import type { PageFacts } from "../../core/protocol/panelMessages";
import { shownValue } from "../../core/shown";
import type { Text } from "../../core/text";

/** Puts sentences into the reader's language. */
export type Words = (text: Text) => string;

/** The page reads no markup in it, but a name must not pose as another one. */
const visible = (value: string): string => shownValue(value, 1000);

export function wordsOf({ locale, translations }: PageFacts): Words {
  return (text) => formatText(text, locale, (template) => translations[template] ?? template, visible);
}

/** A sentence cut before its first figure: "Fits. " and "19,840 of 32,512 tokens". */
export function leadAndRest(text: Text, page: PageFacts): readonly [lead: string, rest: string] {
  const template = page.translations[text.text] ?? text.text;
  const first = template.indexOf("{");
  if (first <= 0) return ["", wordsOf(page)(text)];
  const head = template.slice(0, first);
  return [
    head,
    wordsOf({ ...page, translations: {} })({ text: template.slice(first), args: localize(text, page) }),
  ];
}

function localize(text: Text, page: PageFacts): Text["args"] {
  return text.args.map((arg) => (typeof arg === "object" && "text" in arg ? wordsOf(page)(arg) : arg));
}

/** "3.2 ms", in the reader's number format: seconds would round a token's cost to nothing. */
export function milliseconds(
  { model }: { readonly model: { readonly page: PageFacts } },
  seconds: number,
): string {
  const value = 1000 * seconds;
  return `${formatNumber(value, model.page.locale, value < 1 ? 3 : value < 10 ? 2 : value < 100 ? 1 : 0)} ms`;
}
