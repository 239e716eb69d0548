import { commands } from "vscode";
import { reportOf } from "../../core/report/gaugeState";
import type { GaugeState } from "../../core/report/gaugeState";
import { inBackground } from "./background";

/** The `when` keys of the manifest. */
interface ContextKeys {
  "llamaGauge.hasReport": boolean;
  "llamaGauge.counting": boolean;
  "llamaGauge.leftOut": boolean;
  "llamaGauge.hasLadder": boolean;
  "llamaGauge.ladderRunning": boolean;
  "llamaGauge.ladderResumable": boolean;
  "llamaGauge.serverKnown": boolean;
  "llamaGauge.curveKnown": boolean;
  "llamaGauge.measuring": boolean;
}

const known = new Map<keyof ContextKeys, boolean>();

/** Sets the keys after the gauge's state. */
export function showInContextKeys(state: GaugeState): void {
  const report = reportOf(state);
  setContextKey("llamaGauge.counting", state.status === "counting");
  setContextKey("llamaGauge.hasReport", report !== undefined);
  setContextKey("llamaGauge.leftOut", report?.leftOut !== undefined);
  setContextKey("llamaGauge.serverKnown", report?.server.known === true);
  setContextKey("llamaGauge.curveKnown", report?.curve !== undefined);
}

export function setContextKey<K extends keyof ContextKeys>(key: K, value: ContextKeys[K]): void {
  if (known.get(key) === value) return;
  known.set(key, value);
  inBackground(commands.executeCommand("setContext", key, value));
}
