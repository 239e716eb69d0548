import type { TextDocument } from "vscode";
import type { FileText, ListedFile, FileSource, FileRef } from "../../core/files/files";

/** Text as it stands in the editor, saved or not. */
export interface EditorText {
  readonly path: string;
  readonly label: string;
  readonly text: string;
}

/** A file source over texts in memory. */
export function documentSource(texts: readonly EditorText[], now: number): FileSource {
  const byPath = new Map(texts.map((item) => [item.path, item]));
  return {
    async *list(): AsyncIterable<ListedFile> {
      for (const item of byPath.values()) {
        const bytes = new TextEncoder().encode(item.text).length;
        yield await Promise.resolve({
          kind: "file",
          file: { path: item.path, label: item.label, bytes, mtimeMs: now, unsaved: true },
        });
      }
    },
    read(file: FileRef): Promise<FileText> {
      const item = byPath.get(file.path);
      return Promise.resolve(
        item === undefined
          ? {
              kind: "skipped",
              skipped: { path: file.path, label: file.label, reason: "vanished", folder: false },
            }
          : { kind: "text", text: item.text },
      );
    },
  };
}

export const editorText = (document: TextDocument, label: string): EditorText => ({
  path: document.uri.fsPath,
  label,
  text: document.getText(),
});
