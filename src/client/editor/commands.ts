import { commands } from "vscode";
import type { Log } from "../../core/log";
import type { CommandId } from "./commandIds";
import { DisposableStore, type Disposable } from "./lifecycle";
import { reportingErrors } from "./notify";

/** What a command does with what VS Code hands it. */
export type Handler = (...args: readonly unknown[]) => unknown;

export type CommandTable = Readonly<Record<CommandId, Handler>>;

export function registerCommands(table: Partial<CommandTable>, log: Log): Disposable {
  const store = new DisposableStore();
  for (const [id, handler] of Object.entries(table)) {
    store.add(
      commands.registerCommand(id, (...args: unknown[]) => reportingErrors(id, log, () => handler(...args))),
    );
  }
  return store;
}
