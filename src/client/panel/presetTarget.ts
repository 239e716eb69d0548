import { Position, Range, Uri, window, workspace, WorkspaceEdit, type TextDocument } from "vscode";
import type { LaunchChange } from "../../core/launch/launchChange";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { presetLanguage } from "../../core/protocol/serverRequests";

/** A section of a models preset. */
export interface PresetTarget {
  readonly uri: string;
  readonly section: string;
}

/** The section a server was started from, else the one section in the open presets that names the model's file. */
export async function presetTarget(
  source: PresetTarget | undefined,
  modelPath: string | undefined,
): Promise<PresetTarget | undefined> {
  if (source !== undefined || modelPath === undefined) return source;
  const documents = workspace.textDocuments.filter(({ languageId }) => languageId === presetLanguage);
  if (documents.length === 0) return undefined;
  const { readPreset } = await import("../../core/preset/presetModels");
  const [found, second] = documents.flatMap((document) =>
    readPreset(document.getText())
      .models.filter(({ options }) => isFile(document, options.model, modelPath))
      .map(({ name }) => ({ uri: document.uri.toString(), section: name })),
  );
  return second === undefined ? found : undefined;
}

function isFile(document: TextDocument, named: string | undefined, modelPath: string): boolean {
  if (named === undefined) return false;
  const wanted = Uri.file(modelPath).fsPath;
  return (
    Uri.file(named).fsPath === wanted ||
    (document.uri.scheme === "file" && Uri.joinPath(document.uri, "..", named).fsPath === wanted)
  );
}

/** Writes the change into the section, unsaved and to be undone, and shows it. */
export async function putIntoPreset({ uri, section }: PresetTarget, change: LaunchChange): Promise<void> {
  const { readPreset } = await import("../../core/preset/presetModels");
  const { changeEdits } = await import("../../core/preset/presetChange");
  const document = await workspace.openTextDocument(Uri.parse(uri));
  const preset = readPreset(document.getText());
  if (!preset.sections.has(section)) {
    throw new UserError(
      "notFound",
      say`The preset no longer has the section ${section}.`,
      say`Copy the options, and put them where they belong.`,
    );
  }
  const edits = changeEdits(preset, section, change);
  const edit = new WorkspaceEdit();
  for (const { line, start, end, newText } of edits) {
    edit.replace(document.uri, new Range(line, start, line, end), newText);
  }
  await workspace.applyEdit(edit);
  const [first] = edits;
  const editor = await window.showTextDocument(document);
  if (first !== undefined) {
    const at = new Position(first.line, 0);
    editor.revealRange(new Range(at, at));
  }
}
