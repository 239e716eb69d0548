import { pathToFileURL } from "node:url";
import path from "node:path";
import { vi } from "vitest";
import type { Uri } from "vscode";
import { Emitter } from "../../../src/client/editor/lifecycle";
import type { FromPanel, ToPanel } from "../../../src/core/protocol/panelMessages";

/** As much of VS Code's API as the gauge and its panel ask for: a window without a folder, and not trusted. */
export class VscodeStub {
  private readonly values = new Map<string, unknown>();
  private readonly changes = new Emitter<{ affectsConfiguration: () => boolean }>();
  private readonly fromPage = new Emitter<unknown>();
  /** What was sent to the page. */
  readonly sent: ToPanel[] = [];

  set(setting: string, value: unknown): void {
    this.values.set(setting, value);
    this.changes.fire({ affectsConfiguration: () => true });
  }

  /** What the page says. */
  say(message: FromPanel): void {
    this.fromPage.fire(message);
  }

  /** For `vi.mock("vscode", …)`. */
  module(): object {
    const never = (): { dispose: () => void } => ({ dispose: () => undefined });
    return {
      Uri: {
        file: fileUri,
        joinPath: (base: Uri, ...parts: string[]) => fileUri(path.join(base.fsPath, ...parts)),
      },
      ViewColumn: { Active: -1 },
      env: { language: "en" },
      l10n: { bundle: undefined, t: (template: string) => template },
      commands: { executeCommand: vi.fn() },
      window: {
        registerWebviewPanelSerializer: never,
        createWebviewPanel: () => this.panel(),
      },
      workspace: {
        isTrusted: false,
        workspaceFolders: undefined,
        textDocuments: [],
        notebookDocuments: [],
        getConfiguration: () => ({ get: (id: string) => this.values.get(id) }),
        onDidChangeConfiguration: this.changes.event,
        onDidGrantWorkspaceTrust: never,
      },
    };
  }

  private panel(): object {
    const closed = new Emitter<void>();
    return {
      visible: true,
      reveal: () => undefined,
      dispose: () => closed.fire(),
      onDidDispose: closed.event,
      onDidChangeViewState: () => ({ dispose: () => undefined }),
      webview: {
        html: "",
        cspSource: "page:",
        asWebviewUri: (file: Uri) => file,
        onDidReceiveMessage: this.fromPage.event,
        postMessage: (message: ToPanel) => {
          this.sent.push(message);
          return Promise.resolve(true);
        },
      },
    };
  }
}

/** As much of a `Uri` as is asked for here. */
export function fileUri(file: string): Uri {
  const made: unknown = { scheme: "file", fsPath: file, toString: () => pathToFileURL(file).href };
  return made as Uri;
}
