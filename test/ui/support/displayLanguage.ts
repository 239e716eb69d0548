import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/**
 * Makes VS Code's server believe that a language pack is installed whose translations are all missing: VS Code itself then
 * stays English, and extensions run in `language` with their own translations. Start the server with `--locale` as well.
 */
export async function writeLanguagePack(userDataDir: string, language: string): Promise<void> {
  const translations = path.join(userDataDir, "no-translations.json");
  await mkdir(userDataDir, { recursive: true });
  await writeFile(translations, JSON.stringify({ version: "1.0.0", contents: {} }));
  const packs = {
    [language]: {
      hash: `llama-gauge-${language}`,
      extensions: [{ extensionIdentifier: { id: `llama-gauge.language-${language}` }, version: "1.0.0" }],
      translations: { vscode: translations },
      label: language,
    },
  };
  await writeFile(path.join(userDataDir, "languagepacks.json"), JSON.stringify(packs));
}
