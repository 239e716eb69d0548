import type { ServerSettings } from "../core/protocol/serverRequests";
import { shownText, type Shown } from "../core/shown";
import type { Text } from "../core/text";

/** A hover may show a long list that a preset has. */
const longestValue = 2000;

/** Puts sentences into the reader's language. */
export class Translations {
  private settings: ServerSettings = { trusted: false, locale: "en", translations: {} };

  use(settings: ServerSettings): void {
    this.settings = settings;
  }

  /** Where a finding's code is explained. */
  readonly documented = (code: string): { codeDescription?: { href: string } } => {
    const { documentation } = this.settings;
    return documentation === undefined ? {} : { codeDescription: { href: `${documentation}/${code}.md` } };
  };

  readonly say = (text: Text): Shown => {
    const { locale, translations } = this.settings;
    const translate = (template: string): string => translations[template] ?? template;
    return shownText(text, { locale, translate }, longestValue);
  };
}
