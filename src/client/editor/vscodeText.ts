import { env, l10n } from "vscode";
import { formatText } from "../../core/format";
import type { Text } from "../../core/text";

/** The sentence in the language and number format of the editor. */
export function localized(text: Text): string {
  return formatText(text, env.language, (template) => l10n.t(template));
}
