import { Uri, window, workspace, type TextDocument } from "vscode";
import { isSectionCommand, presetLanguage } from "../../core/protocol/serverRequests";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
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
  if (!isSectionCommand(argument)) return undefined;
  const { uri, section, at } = argument;
  const document = await workspace.openTextDocument(Uri.parse(uri));
  return at === undefined ? requestOfSection(document, section) : requestOfScript(document, section, at);
}

/** A command line of a script, without the shell that would run it. */
async function requestOfScript(document: TextDocument, name: string, at: number): Promise<StartRequest> {
  const { scriptCommands } = await import("../../core/scripts/scriptCommands");
  const { checkCommands } = await import("../../core/scripts/commandReport");
  const script = scriptCommands(document.getText(), document.languageId);
  const command = script && checkCommands(script.commands).find(({ program }) => program.start === at);
  if (command?.isPlain !== true) {
    throw new UserError(
      "invalidInput",
      say`The command line no longer exists, or contains variables that only its shell knows.`,
      say`Start it in a terminal.`,
    );
  }
  const folder = folderOf(document.uri) ?? workspaceFolder();
  return {
    name: `llama-server ${name}`,
    arguments: command.arguments,
    ...(folder !== undefined && { folder }),
  };
}

async function requestOfCursor(): Promise<StartRequest | undefined> {
  const editor = window.activeTextEditor;
  if (editor?.document.languageId !== presetLanguage) return undefined;
  const { readPreset } = await import("../../core/preset/presetModels");
  const { sectionAt } = await import("../../core/preset/presetPlaces");
  const section = sectionAt(readPreset(editor.document.getText()), editor.selection.active.line);
  return section === undefined || section.name === "*"
    ? undefined
    : requestOfSection(editor.document, section.name);
}

async function requestOfSection(document: TextDocument, section: string): Promise<StartRequest> {
  const { readPreset, startArguments } = await import("../../core/preset/presetModels");
  const preset = readPreset(document.getText());
  const model = preset.models.find(({ name }) => name === section);
  if (model === undefined) {
    throw new UserError(
      "invalidInput",
      say`The preset has no model named ${section}.`,
      say`Start a model from the preset.`,
    );
  }
  const folder = folderOf(document.uri) ?? workspaceFolder();
  return {
    name: `llama-server ${section}`,
    arguments: absoluteModel(startArguments(preset, model), folder),
    preset: { uri: document.uri.toString(), section },
    ...(folder !== undefined && { folder }),
  };
}

/** What is measured is kept under the model's path, which must mean the same file everywhere. */
function absoluteModel(argv: readonly string[], folder: string | undefined): readonly string[] {
  return argv.map((word, index) =>
    argv[index - 1] === "--model" && folder !== undefined && !/^(?:[\\/]|[A-Za-z]:)/.test(word)
      ? Uri.joinPath(Uri.file(folder), word).fsPath
      : word,
  );
}

async function requestOfSetting(serverArguments: string): Promise<StartRequest> {
  const { splitCommandLine } = await import("../../core/scripts/splitCommandLine");
  const shell = process.platform === "win32" ? "powershell" : "posix";
  const folder = workspaceFolder();
  return {
    name: "llama-server",
    arguments: splitCommandLine(serverArguments, shell),
    ...(folder !== undefined && { folder }),
  };
}
