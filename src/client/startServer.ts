import { Uri, window, workspace, type TextDocument } from "vscode";
import { presetLanguage, type SectionCommand } from "../core/protocol/serverRequests";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { folderOf, workspaceFolder, type ServerStarter, type StartRequest } from "./serverStarter";

/**
 * Starts llama-server: the section of the code lens, else the one the cursor is in, else what
 * `llamaGauge.serverArguments` says.
 */
export async function startServer(
  starter: ServerStarter,
  serverArguments: string,
  argument: unknown,
): Promise<string | undefined> {
  const request =
    (await requestOfLens(argument)) ?? (await requestOfCursor()) ?? (await requestOfSetting(serverArguments));
  return starter.start(request);
}

/** The section or command line a code lens belongs to. */
export async function requestOfLens(argument: unknown): Promise<StartRequest | undefined> {
  if (typeof argument !== "object" || argument === null || !("section" in argument)) return undefined;
  const { uri, section } = argument as SectionCommand;
  return requestOfSection(await workspace.openTextDocument(Uri.parse(uri)), section);
}

async function requestOfCursor(): Promise<StartRequest | undefined> {
  const editor = window.activeTextEditor;
  if (editor?.document.languageId !== presetLanguage) return undefined;
  const { readPreset } = await import("../core/preset/presetModels");
  const { sectionAt } = await import("../core/preset/presetPlaces");
  const section = sectionAt(readPreset(editor.document.getText()), editor.selection.active.line);
  return section === undefined || section.name === "*"
    ? undefined
    : requestOfSection(editor.document, section.name);
}

async function requestOfSection(document: TextDocument, section: string): Promise<StartRequest> {
  const { readPreset, startArguments } = await import("../core/preset/presetModels");
  const preset = readPreset(document.getText());
  const model = preset.models.find(({ name }) => name === section);
  if (model === undefined) {
    throw new UserError(
      "invalidInput",
      say`The preset has no model named ${section}.`,
      say`Start one that it has.`,
    );
  }
  const folder = folderOf(document.uri) ?? workspaceFolder();
  return {
    name: `llama-server ${section}`,
    arguments: startArguments(preset, model),
    preset: { uri: document.uri.toString(), section },
    ...(folder !== undefined && { folder }),
  };
}

async function requestOfSetting(serverArguments: string): Promise<StartRequest> {
  const { splitCommandLine } = await import("../core/launch/splitCommandLine");
  const shell = process.platform === "win32" ? "powershell" : "posix";
  const folder = workspaceFolder();
  return {
    name: "llama-server",
    arguments: splitCommandLine(serverArguments, shell),
    ...(folder !== undefined && { folder }),
  };
}
