import { TabInputText, TabInputTextDiff, Uri, window, workspace } from "vscode";
import { count, say } from "../../core/text";
import { UserError } from "../../core/userError";
import { documentSource, editorText } from "./documentSource";
import type { EstimateRequest, Renewed } from "../../app/estimates";
import { localized } from "../editor/vscodeText";

/** What the Explorer hands a command: the clicked resource and, with several selected, all of them. */
export function selectedUris(args: readonly unknown[]): readonly Uri[] {
  const [clicked, selected] = args;
  const many = Array.isArray(selected) ? selected.filter((item) => item instanceof Uri) : [];
  if (many.length > 0) return many;
  return clicked instanceof Uri ? [clicked] : [];
}

export function scopeOfUris(uris: readonly Uri[]): EstimateRequest {
  const elsewhere = uris.find((uri) => uri.scheme !== "file");
  if (elsewhere !== undefined) {
    throw new UserError(
      "unsupported",
      say`Only files on disk can be listed, not "${elsewhere.scheme}:" resources.`,
      say`Open the files and use "Llama Gauge: Estimate Open Editors".`,
    );
  }
  const label =
    uris.length <= 3 ? uris.map(name).join(", ") : localized(say`${count(uris.length)} selected item[s]`);
  return { label, roots: uris.map((uri) => uri.fsPath) };
}

/** All workspace folders; without any, what the user picks. Undefined where the user picks nothing. */
export async function scopeOfWorkspace(): Promise<EstimateRequest | undefined> {
  const folders = workspace.workspaceFolders ?? [];
  if (folders.length > 0) {
    return {
      ...scopeOfUris(folders.map((folder) => folder.uri)),
      label: workspace.name ?? folders.map((folder) => folder.name).join(", "),
    };
  }
  const picked = await window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: true,
    openLabel: localized(say`Estimate`),
    title: localized(say`Folders to estimate`),
  });
  return picked === undefined ? undefined : scopeOfUris(picked);
}

/** Every text that is open in a tab, unsaved changes included. */
export async function scopeOfOpenEditors(now: () => number): Promise<EstimateRequest> {
  const current = await openEditors(now);
  return { label: localized(say`open editors`), roots: current.roots, renew: () => openEditors(now) };
}

async function openEditors(now: () => number): Promise<Renewed> {
  const uris = new Map<string, Uri>();
  for (const { input } of window.tabGroups.all.flatMap((group) => group.tabs)) {
    if (input instanceof TabInputText) uris.set(input.uri.toString(), input.uri);
    if (input instanceof TabInputTextDiff) uris.set(input.modified.toString(), input.modified);
  }
  if (uris.size === 0) {
    throw new UserError("invalidInput", say`No text editor is open.`, say`Open the files you want to send.`);
  }
  const documents = await Promise.all(Array.from(uris.values(), (uri) => workspace.openTextDocument(uri)));
  const texts = documents.map((document) => editorText(document, name(document.uri)));
  return { roots: texts.map((text) => text.path), source: documentSource(texts, now()) };
}

export function scopeOfSelection(now: number): EstimateRequest {
  const editor = window.activeTextEditor;
  const selected = editor?.selections.filter((selection) => !selection.isEmpty) ?? [];
  if (editor === undefined || selected.length === 0) {
    throw new UserError("invalidInput", say`No text is selected.`, say`Select the text you want to send.`);
  }
  const { document } = editor;
  const text = selected.map((selection) => document.getText(selection)).join("\n");
  const label = name(document.uri);
  return {
    label: localized(say`selection in ${label}`),
    roots: [document.uri.fsPath],
    source: documentSource([{ path: document.uri.fsPath, label, text }], now),
  };
}

const name = (uri: Uri): string =>
  workspace.asRelativePath(uri, (workspace.workspaceFolders?.length ?? 0) > 1);
