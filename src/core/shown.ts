import { formatText, type Translate } from "./format";
import { visibleName } from "./visibleName";
import type { Text } from "./text";

declare const shownBrand: unique symbol;

/**
 * A line that no part of an editor reads as markup. What comes from files, servers and models is a `string`, and only the
 * functions here make one of these of it: a place that takes nothing else cannot be given foreign text by mistake.
 */
export type Shown = string & { readonly [shownBrand]: true };

/** Characters of a foreign text within a sentence; what matters of a name or a message is at its ends. */
export const longestValue = 240;

export interface Language {
  readonly locale: string;
  readonly translate: Translate;
}

/** The sentence in the reader's language. The words of the template are ours; every text put into it is foreign. */
export function shownText(text: Text, { locale, translate }: Language, longest = longestValue): Shown {
  return plain(formatText(text, locale, translate, (value) => shownValue(value, longest)));
}

/** A foreign text on its own: a name, an id, a path. */
export function shownName(name: string, longest = longestValue): Shown {
  return plain(shownValue(name, longest));
}

/** One line of bounded length, without control characters and marks that turn the writing direction. */
export function shownValue(value: string, longest = longestValue): string {
  const short = value.length <= longest ? value : shortened(value, longest);
  return visibleName(short.replaceAll(/\s*[\r\n\u2028\u2029]\s*/g, " "));
}

function shortened(value: string, longest: number): string {
  const atEnd = Math.floor(longest / 3);
  const start = value.slice(0, longest - atEnd - 1).replace(/[\ud800-\udbff]$/, "");
  return `${start}…${value.slice(-atEnd).replace(/^[\udc00-\udfff]/, "")}`;
}

/**
 * VS Code makes a link of `[text](command:…)` in notifications, progress and the messages of input boxes, and an icon of
 * `$(name)` in status bar, quick picks, code lenses, completions and terminal tabs. In all of them the bracket must follow
 * at once; so a WORD JOINER goes between. It has no width, breaks no line, is skipped by screen readers and typed searches
 * for names, and stays in what is copied, where an editor marks it. A backslash would be seen in the one place and not
 * understood in the other.
 */
function plain(text: string): Shown {
  return text.replaceAll(/(?<=[\]$])(?=\()/g, wordJoiner) as Shown;
}

const wordJoiner = "\u2060";

/** Icons of our own in front of a text. */
export type CodiconName = "comment-discussion" | "dashboard" | "error" | "loading~spin" | "warning";

export const codicon = (name: CodiconName): Shown => `$(${name})` as Shown;

export const nothingShown = "" as Shown;

/** Texts beside or below each other; empty ones are left out. */
export function together(parts: readonly Shown[], between: " " | " · " | ", " | "\n" | "\n\n"): Shown {
  return parts.filter((part) => part !== "").join(between) as Shown;
}
