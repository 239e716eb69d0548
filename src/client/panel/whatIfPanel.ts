import { changedOptions, type LaunchChange } from "../../core/launch/launchChange";
import type { WhatIfAnswer, WhatIfFromPanel, WhatIfToPanel } from "../../core/protocol/whatIfMessages";
import type { Estimated } from "../../core/report/situation";
import { prescribe } from "../../core/prescription/prescribe";
import { whatIf } from "../../core/report/whatIf";
import type { Gauge } from "../estimate/gauge";
import type { ServerStarter } from "../servers/serverStarter";
import { doWithChange, offeredActions } from "./whatIfActions";

/** Keeps the page's what-if up to date with the report it is tried on. */
export class WhatIfPanel {
  private change: LaunchChange = {};
  private tableOpen = false;
  /** What the table that was sent is about. */
  private sentTable: string | undefined;

  constructor(
    private readonly gauge: Pick<Gauge, "shown">,
    private readonly starter: ServerStarter,
    private readonly post: (message: WhatIfToPanel) => void,
  ) {}

  async receive(message: WhatIfFromPanel): Promise<void> {
    switch (message.type) {
      case "whatIf":
        this.change = message.change;
        await this.answer();
        this.sendTable();
        return;
      case "contextTable":
        this.tableOpen = message.open;
        this.sentTable = undefined;
        this.sendTable();
        return;
      case "whatIfAction": {
        const { shown } = this.gauge;
        if (shown === undefined) return;
        const change = message.change ?? this.change;
        if (!(await doWithChange(message.action, change, shown, this.starter))) return;
        this.change = {};
        this.post({ type: "whatIf" });
      }
    }
  }

  /** Another report is on show. */
  async renew(): Promise<void> {
    this.sentTable = undefined;
    if (Object.keys(this.change).length > 0) await this.answer();
    this.sendTable();
    await this.prescribe();
  }

  /** Some tenths of a second of work at most, after the verdict is on its way. */
  private async prescribe(): Promise<void> {
    const { shown } = this.gauge;
    if (shown === undefined) return;
    const actions = await offeredActions(shown, this.starter);
    await new Promise((resolve) => setImmediate(resolve));
    if (shown.report !== this.gauge.shown?.report) return;
    const { revision } = shown.report;
    const prescriptions = { revision, actions, ...prescribe(shown.report, shown.situation) };
    this.post({ type: "prescriptions", prescriptions });
  }

  private async answer(): Promise<void> {
    const { change } = this;
    const { shown } = this.gauge;
    const answer = shown && (await this.answerOn(shown, change));
    // a newer change has its own answer
    if (change !== this.change || shown?.report !== this.gauge.shown?.report) return;
    if (answer === undefined) this.change = {};
    this.post({ type: "whatIf", ...(answer && { answer }) });
  }

  /** Undefined where nothing is changed or nothing can be tried. */
  private async answerOn(shown: Estimated, change: LaunchChange): Promise<WhatIfAnswer | undefined> {
    if (changedOptions(change).length === 0) return undefined;
    const report = whatIf(shown.report, shown.situation, change);
    return report && { change, report, actions: await offeredActions(shown, this.starter) };
  }

  /** A tenth of a second of work: only while the table is open, and not for changes it shows anyway. */
  private sendTable(): void {
    if (!this.tableOpen) return;
    const { ctxSize: _, cacheTypeK: __, cacheTypeV: ___, ...others } = this.change;
    const about = JSON.stringify(others);
    if (about === this.sentTable) return;
    this.sentTable = about;
    const situation = this.gauge.shown?.situation;
    const table = situation?.budgets?.table({ ...situation.launch, ...others });
    this.post({ type: "contextTable", ...(table && { table }) });
  }
}
