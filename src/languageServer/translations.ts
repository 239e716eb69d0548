import { formatText } from "../core/format";
import type { ServerSettings } from "../core/protocol/serverRequests";
import type { Text } from "../core/text";

/** Puts sentences into the reader's language. */
export class Words {
  private settings: ServerSettings = { trusted: false, locale: "en", translations: {} };

  use(settings: ServerSettings): void {
    this.settings = settings;
  }

  /** Where a finding's code is explained. */
  readonly documented = (code: string): { codeDescription?: { href: string } } => {
    const { documentation } = this.settings;
    return documentation === undefined ? {} : { codeDescription: { href: `${documentation}/${code}.md` } };
  };

  readonly say = (text: Text): string => {
    const { locale, translations } = this.settings;
    return formatText(text, locale, (template) => translations[template] ?? template);
  };
}
