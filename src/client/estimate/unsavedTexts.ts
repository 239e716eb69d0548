import { workspace, type NotebookDocument } from "vscode";
import { cellSeparator, isNotebook, notebookText } from "../../core/files/notebookText";
import type { UnsavedText } from "../../core/tokens/overlayFiles";

/** What stands in editors and is not saved yet, by path. */
export function unsavedTexts(): ReadonlyMap<string, UnsavedText> {
  const texts = new Map<string, UnsavedText>();
  for (const document of workspace.textDocuments) {
    if (!document.isDirty || document.uri.scheme !== "file") continue;
    const text = document.getText();
    const cells = isNotebook(document.uri.path) ? notebookText(text) : undefined;
    texts.set(document.uri.fsPath, cells === undefined ? { text } : { text: cells, form: "notebook" });
  }
  for (const notebook of workspace.notebookDocuments) {
    if (!notebook.isDirty || notebook.uri.scheme !== "file") continue;
    texts.set(notebook.uri.fsPath, { text: cellsOf(notebook), form: "notebook" });
  }
  return texts;
}

function cellsOf(notebook: NotebookDocument): string {
  return notebook
    .getCells()
    .map((cell) => cell.document.getText())
    .join(cellSeparator);
}
