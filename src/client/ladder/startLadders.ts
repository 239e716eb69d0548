import type { Log } from "../../core/log";
import { registerCommands } from "../editor/commands";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import type { Gauge } from "../estimate/gauge";
import type { GaugePanel } from "../panel/panel";
import { ladderCommands } from "./ladderCommands";
import { LadderRuns, type LaddersInUse } from "./ladderRuns";
import { LadderPlanChecks } from "./ladderPlanChecks";

export interface LadderParts {
  readonly gauge: Gauge;
  readonly panel: Pick<GaugePanel, "add" | "show">;
  readonly log: Log;
  readonly ladders: LaddersInUse;
}

/** Commands, plan checks and the panel's part of the ladder. */
export function startLadders({ gauge, panel, log, ladders }: LadderParts): Disposable {
  const store = new DisposableStore();
  const runs = store.add(new LadderRuns(ladders));
  store.add(new LadderPlanChecks((text) => ladders.checkPlan(text)));
  panel.add(runs);
  store.add(registerCommands(ladderCommands({ runs, gauge, panel }), log));
  return store;
}
