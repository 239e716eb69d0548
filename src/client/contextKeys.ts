import { commands } from "vscode";

/** The `when` keys of the manifest. */
interface ContextKeys {
  "llamaGauge.hasReport": boolean;
  "llamaGauge.counting": boolean;
  "llamaGauge.leftOut": boolean;
  "llamaGauge.hasLadder": boolean;
  "llamaGauge.ladderRunning": boolean;
  "llamaGauge.ladderResumable": boolean;
}

const known = new Map<keyof ContextKeys, boolean>();

export function setContextKey<K extends keyof ContextKeys>(key: K, value: ContextKeys[K]): void {
  if (known.get(key) === value) return;
  known.set(key, value);
  void commands.executeCommand("setContext", key, value);
}
