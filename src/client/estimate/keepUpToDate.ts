import { window } from "vscode";
import { ChangeWatch } from "./changeWatch";
import type { Gauge } from "./gauge";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import { LiveRecount } from "./liveRecount";

/** Watches what the report is about and counts again. While the window is not looked at nothing is counted. */
export function keepUpToDate(gauge: Gauge): Disposable {
  const store = new DisposableStore();
  const live = store.add(new LiveRecount({ gauge, isSeen: () => window.state.focused, now: Date.now }));
  store.add(new ChangeWatch(gauge, () => live.touched()));
  store.add(
    window.onDidChangeWindowState(({ focused }) => {
      if (focused) live.seen();
    }),
  );
  return store;
}
