import {
  Diagnostic,
  DiagnosticSeverity,
  MarkdownString,
  ProgressLocation,
  StatusBarAlignment,
  ThemeColor,
  TreeItem,
  window,
  type InputBoxOptions,
  type QuickPickItem,
  type QuickPickOptions,
  type Range,
  type StatusBarItem,
  type TreeItemCollapsibleState,
  type TreeView,
} from "vscode";
import type { Markdown } from "../../core/markdown";
import type { VerdictSeverity } from "../../core/report/verdict";
import type { Shown } from "../../core/shown";
import { toAbortSignal } from "./cancellation";
import type { CommandId } from "./commandIds";
import type { Disposable } from "./lifecycle";

/**
 * The one way to the parts of the window that read markup in what they are given: each takes a `Shown` or `Markdown`, which
 * no foreign text is. The linter keeps everybody else from the functions of `vscode` behind them.
 */

export type Severity = "error" | "warning" | "information";

const toasts = {
  error: "showErrorMessage",
  warning: "showWarningMessage",
  information: "showInformationMessage",
} as const satisfies Record<Severity, keyof typeof window>;

/** A notification; resolves to the button that was chosen. It may stay open for ever. */
export async function notify(
  severity: Severity,
  message: Shown,
  buttons: readonly Shown[] = [],
): Promise<Shown | undefined> {
  const chosen = await window[toasts[severity]](message, ...buttons);
  return buttons.find((button) => button === chosen);
}

/** A question that must be answered before anything else; whether the one button was chosen. */
export async function askToGoOn(
  severity: Severity,
  question: Shown,
  button: Shown,
  detail?: Shown,
): Promise<boolean> {
  const options = { modal: true, ...(detail !== undefined && { detail }) };
  return (await window[toasts[severity]](question, options, button)) === button;
}

export interface Reporting {
  report(step: { readonly message?: Shown; readonly increment?: number }): void;
}

/** A notification with a bar and a button to cancel. */
export function showingProgress<T>(
  title: Shown,
  run: (progress: Reporting, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const options = { location: ProgressLocation.Notification, title, cancellable: true };
  return Promise.resolve(
    window.withProgress(options, (progress, token) => run(progress, toAbortSignal(token))),
  );
}

/** A word in the status bar that goes away by itself. */
export function showBriefly(message: Shown, milliseconds = 3000): void {
  window.setStatusBarMessage(message, milliseconds);
}

export interface PickItem extends QuickPickItem {
  readonly label: Shown;
  readonly description?: Shown;
  readonly detail?: Shown;
}

type PickTexts = Pick<QuickPickOptions, "matchOnDescription" | "matchOnDetail"> & {
  readonly title: Shown;
  readonly placeHolder?: Shown;
};

export async function pick<T extends PickItem>(
  items: readonly T[],
  options: PickTexts,
): Promise<T | undefined> {
  return window.showQuickPick(items, options);
}

export async function pickSeveral<T extends PickItem>(
  items: readonly T[],
  options: PickTexts,
): Promise<readonly T[] | undefined> {
  return window.showQuickPick(items, { ...options, canPickMany: true });
}

/** A pick list that is filled after it is shown: see `pickWhileSearching`. */
export function emptyPick<T extends PickItem>(texts: {
  readonly title: Shown;
  readonly placeholder: Shown;
}): ReturnType<typeof window.createQuickPick<T>> {
  return Object.assign(window.createQuickPick<T>(), texts);
}

export async function enterText(
  options: Pick<InputBoxOptions, "value" | "password" | "ignoreFocusOut"> & {
    readonly title: Shown;
    readonly prompt?: Shown;
    readonly validateInput?: (text: string) => Shown | undefined;
  },
): Promise<string | undefined> {
  return window.showInputBox(options);
}

export interface StatusItemLook {
  readonly text: Shown;
  readonly tooltip: Shown | MarkdownString;
  /** For screen readers. */
  readonly label: Shown;
  readonly severity?: VerdictSeverity;
}

const backgrounds: Readonly<Record<VerdictSeverity, string | undefined>> = {
  good: undefined,
  open: undefined,
  care: "statusBarItem.warningBackground",
  bad: "statusBarItem.errorBackground",
};

/** An item on the left of the status bar, a button that runs a command. */
export class StatusItem implements Disposable {
  private readonly item: StatusBarItem;

  constructor(id: string, priority: number, name: string, command: CommandId) {
    this.item = window.createStatusBarItem(id, StatusBarAlignment.Left, priority);
    this.item.name = name;
    this.item.command = command;
  }

  show({ text, tooltip, label, severity = "good" }: StatusItemLook): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label, role: "button" };
    const colour = backgrounds[severity];
    this.item.backgroundColor = colour === undefined ? undefined : new ThemeColor(colour);
    this.item.show();
  }

  hide(): void {
    this.item.hide();
  }

  dispose(): void {
    this.item.dispose();
  }
}

/** Markdown whose links may run these commands and nothing else. */
export function markdownString(text: Markdown, enabledCommands: readonly CommandId[]): MarkdownString {
  const result = new MarkdownString(text);
  result.isTrusted = { enabledCommands };
  return result;
}

export interface RowTexts {
  readonly label: Shown;
  readonly description?: Shown;
  readonly tooltip?: Shown;
  /** For screen readers. */
  readonly spoken?: Shown;
}

export function treeItem(
  { label, description, tooltip, spoken }: RowTexts,
  state: TreeItemCollapsibleState,
): TreeItem {
  const item = new TreeItem(label, state);
  if (description !== undefined) item.description = description;
  if (tooltip !== undefined) item.tooltip = tooltip;
  if (spoken !== undefined) item.accessibilityInformation = { label: spoken };
  return item;
}

/** Beside the title of a view. */
export function describeView(view: Pick<TreeView<unknown>, "description">, text: Shown): void {
  view.description = text;
}

export function errorAt(range: Range, message: Shown): Diagnostic {
  const diagnostic = new Diagnostic(range, message, DiagnosticSeverity.Error);
  diagnostic.source = "Llama Gauge";
  return diagnostic;
}
