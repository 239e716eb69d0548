import type { ListedFile, FileSource, TextForm } from "../files/files";

/** The text of a file as it stands in an editor. */
export interface UnsavedText {
  readonly text: string;
  readonly form?: TextForm;
}

/** The files of `base`; those with unsaved changes are what is on screen. @param unsaved by absolute path */
export function overlayFiles(base: FileSource, unsaved: ReadonlyMap<string, UnsavedText>): FileSource {
  if (unsaved.size === 0) return base;
  return {
    ...base,
    async *list(roots, options, signal): AsyncIterable<ListedFile> {
      for await (const listed of base.list(roots, options, signal)) {
        const changed = listed.kind === "file" ? unsaved.get(listed.file.path) : undefined;
        if (listed.kind === "skipped" || changed === undefined) yield listed;
        else yield { kind: "file", file: { ...listed.file, bytes: utf8Length(changed.text), unsaved: true } };
      }
    },
    onDisk: (file) => !unsaved.has(file.path) && base.onDisk?.(file) === true,
    read(file, signal) {
      const changed = unsaved.get(file.path);
      return changed === undefined ? base.read(file, signal) : Promise.resolve({ kind: "text", ...changed });
    },
  };
}

function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) bytes++;
    // a surrogate pair is four bytes: two per half
    if (code > 0x7ff && (code < 0xd800 || code > 0xdfff)) bytes++;
  }
  return bytes;
}
