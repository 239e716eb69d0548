import { Uri, window, workspace, type TextDocument } from "vscode";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { isPlan } from "./ladderPlanChecks";
import { shownName } from "../../core/shown";
import { pick } from "../editor/screen";
import { localized } from "../editor/vscodeText";

const pattern = "**/*.ladder.{yaml,yml,json}";
const mostFound = 200;

/** Opens a new plan beside the workspace's files, under a free name; it is the user's to save. */
export async function newPlan(text: string): Promise<TextDocument> {
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const uri = folder === undefined ? undefined : (await freeName(folder)).with({ scheme: "untitled" });
  const document = await (uri === undefined || folder?.scheme !== "file"
    ? workspace.openTextDocument({ content: text, language: "yaml" })
    : workspace.openTextDocument(uri));
  const editor = await window.showTextDocument(document);
  if (document.getText() === "") await editor.edit((edit) => edit.insert(editor.selection.start, text));
  return document;
}

async function freeName(folder: Uri): Promise<Uri> {
  for (let n = 1; ; n++) {
    const uri = Uri.joinPath(folder, n === 1 ? "window.ladder.yaml" : `window-${n}.ladder.yaml`);
    const opened = workspace.textDocuments.some((document) => document.uri.path === uri.path);
    const exists = opened || (await workspace.fs.stat(uri).then(yes, no));
    if (!exists) return uri;
  }
}

const yes = (): boolean => true;
const no = (): boolean => false;

/** The plan that is meant: the one named, else the one in the active editor, else one of the workspace's. */
export async function planDocument(named: Uri | undefined): Promise<TextDocument | undefined> {
  if (named !== undefined) return workspace.openTextDocument(openedAs(named));
  const active = window.activeTextEditor?.document;
  if (active !== undefined && isPlan(active)) return active;
  const found = await workspace.findFiles(pattern, undefined, mostFound);
  const open = workspace.textDocuments.filter((document) => document.isUntitled && isPlan(document));
  const uris = [...open.map(({ uri }) => uri), ...found];
  if (uris.length === 0) {
    throw new UserError(
      "notFound",
      say`There is no ladder plan in this workspace.`,
      say`Create one with “Llama Gauge: Create Ladder Plan”.`,
    );
  }
  const items = uris.map((uri) => ({ label: shownName(workspace.asRelativePath(uri)), uri }));
  const chosen = items.length === 1 ? items[0] : await pick(items, { title: localized(say`Ladder to run`) });
  return chosen && workspace.openTextDocument(chosen.uri);
}

/** The same path may be open and not saved yet. */
function openedAs(uri: Uri): Uri {
  const found = workspace.textDocuments.find((document) => document.uri.path === uri.path);
  return found?.uri ?? uri;
}
