import { readChange, type LaunchChange } from "../launch/launchChange";
import type { Prescriptions } from "../prescription/prescription";
import type { ContextTable } from "../memory/budget/contextTable";
import type { LiveMemory } from "../memory/devices/liveMemory";
import type { Judged } from "../report/whatIf";

/** What can be done with a change that was tried; nothing of it happens by itself. */
const whatIfActions = ["copyFlags", "putIntoPreset", "restartServer"] as const;

export type WhatIfAction = (typeof whatIfActions)[number];

/** Host to panel: what to change about a report, and what can be done with each of it. */
export interface OfferedPrescriptions extends Prescriptions {
  /** Of the report they are for. */
  readonly revision: number;
  readonly actions: readonly WhatIfAction[];
}

/** Host to panel: the report with a change made, and what can be done with it. */
export interface WhatIfAnswer {
  readonly change: LaunchChange;
  readonly report: Judged;
  readonly actions: readonly WhatIfAction[];
}

export type WhatIfToPanel =
  /** No answer: nothing is tried any more. */
  | { readonly type: "whatIf"; readonly answer?: WhatIfAnswer }
  | { readonly type: "contextTable"; readonly table?: ContextTable }
  | { readonly type: "prescriptions"; readonly prescriptions: OfferedPrescriptions }
  /** Measured while the page is seen. */
  | { readonly type: "live"; readonly memory?: LiveMemory };

export type WhatIfFromPanel =
  /** Empty: back to how it is. */
  | { readonly type: "whatIf"; readonly change: LaunchChange }
  /** With the change that is tried, or with another one. */
  | { readonly type: "whatIfAction"; readonly action: WhatIfAction; readonly change?: LaunchChange }
  /** Whether the table of contexts and KV types is open; it is kept up to date while it is. */
  | { readonly type: "contextTable"; readonly open: boolean };

/** What came from the page, or undefined where it is none of these messages. */
export function whatIfFromPanel(message: object & { readonly type: unknown }): WhatIfFromPanel | undefined {
  if (message.type === "whatIf" && "change" in message) {
    const change = readChange(message.change);
    return change && { type: "whatIf", change };
  }
  if (message.type === "whatIfAction" && "action" in message) {
    const action = whatIfActions.find((known) => known === message.action);
    if (action === undefined || !("change" in message)) return action && { type: "whatIfAction", action };
    const change = readChange(message.change);
    return change && { type: "whatIfAction", action, change };
  }
  if (message.type === "contextTable" && "open" in message && typeof message.open === "boolean") {
    return { type: "contextTable", open: message.open };
  }
  return undefined;
}
