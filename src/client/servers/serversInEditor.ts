import { window, workspace, type TerminalShellExecution } from "vscode";
import type { ServerAddress } from "../../core/servers/serverAddresses";
import { DisposableStore, type Disposable } from "../editor/lifecycle";

interface Sighting {
  readonly terminal: string;
  readonly line: string;
}

const llamaVscode = "llama-vscode";

/** Llama-servers the editor itself knows of: command lines in its terminals, and the settings of llama.vscode. */
export class ServersInEditor implements Disposable {
  private readonly store = new DisposableStore();
  private readonly running = new Map<TerminalShellExecution, Sighting>();

  constructor() {
    this.store.add(
      window.onDidStartTerminalShellExecution(({ terminal, execution }) => {
        const line = execution.commandLine.value;
        if (/llama/i.test(line)) this.running.set(execution, { terminal: terminal.name, line });
      }),
    );
    this.store.add(
      window.onDidEndTerminalShellExecution(({ execution }) => void this.running.delete(execution)),
    );
  }

  /** Newest terminal first. */
  async addresses(): Promise<readonly ServerAddress[]> {
    const { llamaVscodeAddresses, urlOfCommand } = await import("../../core/servers/llamaVscode");
    const shell = process.platform === "win32" ? "powershell" : "posix";
    const inTerminals = Array.from(this.running.values())
      .toReversed()
      .flatMap(({ terminal: name, line }): ServerAddress[] => {
        const url = urlOfCommand(line, shell);
        return url === undefined ? [] : [{ url, source: { kind: "terminal", name } }];
      });
    return [...inTerminals, ...llamaVscodeAddresses(llamaVscodeSetting, shell)];
  }

  dispose(): void {
    this.store.dispose();
  }
}

/** A value of the workspace would steer a request, and counts only in a trusted one. */
function llamaVscodeSetting(key: string): unknown {
  const configuration = workspace.getConfiguration(llamaVscode);
  return workspace.isTrusted ? configuration.get(key) : configuration.inspect(key)?.globalValue;
}
