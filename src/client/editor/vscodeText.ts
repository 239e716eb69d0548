import { env, l10n } from "vscode";
import { shownText, type Shown } from "../../core/shown";
import type { Text } from "../../core/text";

/** The sentence in the language and number format of the editor, whatever foreign text is put into it. */
export function localized(text: Text): Shown {
  return shownText(text, { locale: env.language, translate: (template) => l10n.t(template) });
}
