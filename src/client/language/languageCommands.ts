import {
  commands,
  env,
  Uri,
  window,
  workspace,
  type TextDocument,
  type TextDocumentContentProvider,
  type TextEditor,
} from "vscode";
import { joinCommandLine } from "../../core/scripts/joinCommandLine";
import type { CheckedCommand } from "../../core/scripts/commandReport";
import type { ScriptCommands } from "../../core/scripts/scriptCommands";
import type { Shell } from "../../core/scripts/splitCommandLine";
import { formatBytes } from "../../core/format";
import { isSectionCommand, type SectionCommand } from "../../core/protocol/serverRequests";
import { bytes, say } from "../../core/text";
import { UserError } from "../../core/userError";
import {
  bulletList,
  codeBlock,
  heading,
  lineLink,
  markdownTable,
  md,
  paragraphs,
  type Markdown,
} from "../../core/markdown";
import { shownName, type Shown } from "../../core/shown";
import { pick, showBriefly } from "../editor/screen";
import { localized } from "../editor/vscodeText";

/** Code lens of a section: its command line for the shell of this system. */
export async function copyCommandLine(...[argument]: readonly unknown[]): Promise<void> {
  const { arguments: words } = argument as SectionCommand;
  const shell: Shell = process.platform === "win32" ? "powershell" : "posix";
  await env.clipboard.writeText(joinCommandLine(["llama-server", ...words], shell));
  showBriefly(localized(say`Command line copied`));
}

/** Code lens of a section: what it needs, as a table by device. */
export async function showSectionBudget(...[argument]: readonly unknown[]): Promise<void> {
  const { section, cost } = argument as SectionCommand;
  if (cost === undefined) {
    throw new UserError(
      "notFound",
      say`What ${section} costs is unknown: its model file is not on this machine, or the workspace is not trusted.`,
      say`Specify an existing file, and trust the workspace.`,
    );
  }
  const size = (value: number | undefined): string =>
    value === undefined ? "" : formatBytes(value, env.language);
  const heads = [say`Device`, say`Weights`, say`Context`, say`Compute`, say`Total`, say`Free now`];
  const rows = cost.devices.map(({ name, weights, context, compute, total, free }) => [
    name,
    ...[weights, context, compute, total, free].map(size),
  ]);
  await showMarkdown(
    localized(say`Memory of ${section}`),
    paragraphs([
      md`**${localized(cost.verdict)}**`,
      ...(cost.beyond === undefined ? [] : [md`**${localized(cost.beyond)}**`]),
      markdownTable(
        heads.map((head) => md`${localized(head)}`),
        rows.map((cells) => cells.map((cell) => md`${shownName(cell)}`)),
        (column) => (column === 0 ? "---" : "--:"),
      ),
      bulletList(cost.lines.map((line) => md`${localized(line)}`)),
    ]),
  );
}

/** Explains the selection, or the whole text of the active editor. */
export async function explainActiveLog(): Promise<void> {
  const editor = activeEditor();
  const { selection, document } = editor;
  const { explainLog } = await import("../../core/logs/explainLog");
  const { logReport } = await import("../../core/logs/logReport");
  const text = ofBearableLength(document.getText(selection.isEmpty ? undefined : selection), mostLogText);
  const parts = logReport(explainLog(text, mostLogLines), selection.isEmpty ? 0 : selection.start.line);
  if (parts.length === 0) {
    throw new UserError(
      "invalidInput",
      say`This text contains nothing recognisable from llama.cpp.`,
      say`Open its log, or select the lines around the error; with -lv 4 it is most detailed.`,
    );
  }
  const linked = (title: Shown, line: number | undefined): Markdown =>
    line === undefined || document.uri.scheme !== "file"
      ? md`${title}`
      : lineLink(title, document.uri.toString(), line);
  const page = parts.flatMap(({ heading: title, line, lines, quoted }) => [
    heading(linked(localized(title), line)),
    ...(quoted === undefined ? [] : [codeBlock(quoted)]),
    ...lines.map((each) => md`${localized(each)}`),
  ]);
  await showMarkdown(localized(say`What this log shows`), paragraphs(page));
}

/** Checks the command of a code lens, else those in the selection, else those in the line of the cursor. */
export async function checkSelection(argument?: unknown): Promise<void> {
  const { checkCommands, noServerCommand } = await import("../../core/scripts/commandReport");
  const script = (await scriptOfLens(argument)) ?? (await selectedScript());
  const { commands: found, shell, at } = script;
  if (script.isDismissed === true) return;
  const commandsFound = checkCommands(found).filter(
    ({ program }) => at === undefined || program.start === at,
  );
  if (commandsFound.length === 0) {
    throw new UserError("invalidInput", noServerCommand, say`Select a command that starts llama-server.`);
  }
  const parts = commandsFound.map(({ words, remarks }) => {
    const lines = remarks.map(
      ({ severity, message }) => md`**${localized(severityWords[severity])}** ${localized(message)}`,
    );
    return [
      codeBlock(joinCommandLine(words, shell), "sh"),
      lines.length === 0 ? md`${localized(say`llama-server accepts this command line.`)}` : bulletList(lines),
    ];
  });
  await showMarkdown(localized(say`Command line of llama-server`), paragraphs(parts.flat()));
}

/** The window stands still while a text is read. */
const mostLogText = 16 * 2 ** 20;
const mostLogLines = 500_000;
const mostScriptText = 2 ** 19;

function ofBearableLength(text: string, most: number): string {
  if (text.length <= most) return text;
  throw new UserError(
    "tooLarge",
    say`This text is longer than ${bytes(most)}.`,
    say`Select the lines that matter.`,
  );
}

interface CheckedScript extends ScriptCommands {
  /** Where the command begins that is meant; absent: all of them. */
  readonly at?: number;
  /** None of them was chosen. */
  readonly isDismissed?: boolean;
}

async function chosenCommand(
  servers: readonly CheckedCommand[],
  document: TextDocument,
): Promise<CheckedCommand | undefined> {
  const items = servers.map((command) => ({
    label: shownName(command.words.join(" "), 100),
    description: localized(say`Line ${String(document.positionAt(command.program.start).line + 1)}`),
    command,
  }));
  const picked = await pick(items, { title: localized(say`Which command line?`) });
  return picked?.command;
}

async function scriptOfLens(argument: unknown): Promise<CheckedScript | undefined> {
  if (!isSectionCommand(argument)) return undefined;
  const { uri, at } = argument;
  const { scriptCommands } = await import("../../core/scripts/scriptCommands");
  const document = await workspace.openTextDocument(Uri.parse(uri));
  const script = scriptCommands(document.getText(), document.languageId);
  return script && { ...script, ...(at !== undefined && { at }) };
}

/** What is selected; else the command at the cursor, the only one of the file, or one to be chosen. */
async function selectedScript(): Promise<CheckedScript> {
  const { checkCommands, commandsOf } = await import("../../core/scripts/commandReport");
  const { selection, document } = activeEditor();
  if (selection.isEmpty) {
    const { scriptCommands } = await import("../../core/scripts/scriptCommands");
    const whole = scriptCommands(document.getText(), document.languageId);
    const servers = checkCommands(whole?.commands ?? []);
    const line = selection.active.line;
    const here = servers.filter(({ place }) => {
      const [first, last] = [document.positionAt(place.start).line, document.positionAt(place.end).line];
      return first <= line && line <= last;
    });
    const [only] = servers;
    if (whole !== undefined && only !== undefined && here.length < 2) {
      const chosen = here[0] ?? (servers.length === 1 ? only : await chosenCommand(servers, document));
      return { ...whole, at: chosen?.program.start ?? -1, isDismissed: chosen === undefined };
    }
  }
  const text = ofBearableLength(
    selection.isEmpty ? document.lineAt(selection.active.line).text : document.getText(selection),
    mostScriptText,
  );
  const shell = shellOf(document.languageId, text);
  return { shell, commands: commandsOf(text, shell) };
}

const severityWords = {
  error: say`Error:`,
  warning: say`Warning:`,
  information: say`Note:`,
} as const;

function activeEditor(): TextEditor {
  const editor = window.activeTextEditor;
  if (editor !== undefined) return editor;
  throw new UserError("invalidInput", say`No text is open.`, say`Open or paste it first.`);
}

function shellOf(languageId: string, text: string): Shell {
  if (languageId === "powershell" || /`\s*$/m.test(text)) return "powershell";
  return languageId === "bat" || /\^\s*$/m.test(text) ? "cmd" : "posix";
}

/** Scheme of read-only texts of ours; the text itself is the query of the address, so that nothing has to be kept. */
export const textScheme = "llama-gauge-text";
export const textProvider: TextDocumentContentProvider = { provideTextDocumentContent: ({ query }) => query };

/** A page of Markdown, made for reading. */
export async function showMarkdown(title: Shown, content: Markdown): Promise<void> {
  const uri = Uri.from({
    scheme: textScheme,
    path: `/${title.replace(/[/\\:]/g, " ")}.md`,
    query: `${paragraphs([md`# ${title}`, content])}\n`,
  });
  await workspace.openTextDocument(uri);
  await commands.executeCommand("markdown.showPreview", uri);
}
