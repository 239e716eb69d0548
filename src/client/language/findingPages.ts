import { Uri, workspace, type TextDocumentContentProvider } from "vscode";
import { findingSection } from "../../core/preset/findingPage";

/** Scheme of the pages behind the codes of findings. */
export const findingScheme = "llama-gauge-finding";

/** Each page is a part of the document about presets that comes with the extension. */
export function findingPages(extensionUri: Uri): TextDocumentContentProvider {
  return {
    provideTextDocumentContent: async ({ path }) => {
      const code = /(\w+)\.md$/.exec(path)?.[1] ?? "";
      const file = Uri.joinPath(extensionUri, "docs", "presets.md");
      const page = new TextDecoder().decode(await workspace.fs.readFile(file));
      return findingSection(page, code) ?? page;
    },
  };
}
