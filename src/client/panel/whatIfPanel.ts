import type { LaunchChange } from "../../core/launch/launchChange";
import type { WhatIfFromPanel, WhatIfToPanel } from "../../core/protocol/whatIfMessages";
import type { GaugeReport } from "../../core/report/gaugeReport";
import type { WhatIfDesk } from "./whatIfDesk";

/** Keeps the page's what-if up to date with the report it is tried on. */
export class WhatIfPanel {
  private change: LaunchChange = {};
  private tableOpen = false;
  /** What the table that was sent is about. */
  private sentTable: string | undefined;

  constructor(
    private readonly desk: WhatIfDesk,
    private readonly report: () => GaugeReport | undefined,
    private readonly post: (message: WhatIfToPanel) => void,
  ) {}

  async receive(message: WhatIfFromPanel): Promise<void> {
    switch (message.type) {
      case "whatIf":
        this.change = message.change;
        await this.answer();
        await this.sendTable();
        return;
      case "contextTable":
        this.tableOpen = message.open;
        this.sentTable = undefined;
        await this.sendTable();
        return;
      case "whatIfAction": {
        const report = this.report();
        if (report === undefined || !(await this.desk.act(message.action, report, this.change))) return;
        this.change = {};
        this.post({ type: "whatIf" });
      }
    }
  }

  /** Another report is on show. */
  async renew(): Promise<void> {
    this.sentTable = undefined;
    if (Object.keys(this.change).length > 0) await this.answer();
    await this.sendTable();
  }

  private async answer(): Promise<void> {
    const { change } = this;
    const report = this.report();
    const answer = report && (await this.desk.answer(report, change));
    // a newer change has its own answer
    if (change !== this.change || report !== this.report()) return;
    if (answer === undefined) this.change = {};
    this.post({ type: "whatIf", ...(answer && { answer }) });
  }

  /** A tenth of a second of work: only while the table is open, and not for changes it shows anyway. */
  private async sendTable(): Promise<void> {
    if (!this.tableOpen) return;
    const { ctxSize: _, cacheTypeK: __, cacheTypeV: ___, ...others } = this.change;
    const about = JSON.stringify(others);
    if (about === this.sentTable) return;
    this.sentTable = about;
    const table = await this.desk.table(others);
    if (about === this.sentTable) this.post({ type: "contextTable", ...(table && { table }) });
  }
}
