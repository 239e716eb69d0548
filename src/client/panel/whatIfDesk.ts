import { commands, env, window } from "vscode";
import {
  argumentsWithChange,
  changeArguments,
  changedOptions,
  type LaunchChange,
} from "../../core/launch/launchChange";
import { joinCommandLine } from "../../core/scripts/joinCommandLine";
import type { ContextTable } from "../../core/memory/budget/contextTable";
import type { WhatIfAction, WhatIfAnswer } from "../../core/protocol/whatIfMessages";
import type { GaugeReport } from "../../core/report/gaugeReport";
import type { Judged } from "../../core/report/whatIf";
import { say } from "../../core/text";
import type { CommandId } from "../editor/commandIds";
import { presetTarget, putIntoPreset } from "./presetChange";
import type { ServerStarter } from "../servers/serverStarter";
import { localized } from "../editor/vscodeText";

/** Answers from what the last estimate left in memory. */
export interface WhatIfOutside {
  /** Undefined where nothing can be tried on the report. */
  readonly judge: (report: GaugeReport, change: LaunchChange) => Promise<Judged | undefined>;
  readonly table: (change: LaunchChange) => Promise<ContextTable | undefined>;
  /** The model a launch is about, as its options name it. */
  readonly modelPath: () => string | undefined;
}

/** What the reader tries on a report, and what can be done with it. */
export class WhatIfDesk {
  constructor(
    private readonly outside: WhatIfOutside,
    private readonly starter: ServerStarter,
  ) {}

  /** Undefined where nothing is changed or nothing can be tried. */
  async answer(report: GaugeReport, change: LaunchChange): Promise<WhatIfAnswer | undefined> {
    if (changedOptions(change).length === 0) return undefined;
    const judged = await this.outside.judge(report, change);
    return judged && { change, report: judged, actions: await this.actions(report) };
  }

  table(change: LaunchChange): Promise<ContextTable | undefined> {
    return this.outside.table(change);
  }

  /** @returns whether the change is now how it is, so that nothing is left to try */
  async act(action: WhatIfAction, report: GaugeReport, change: LaunchChange): Promise<boolean> {
    switch (action) {
      case "copyFlags": {
        const shell = process.platform === "win32" ? "powershell" : "posix";
        await env.clipboard.writeText(joinCommandLine(changeArguments(change), shell));
        window.setStatusBarMessage(localized(say`Options copied`), 3000);
        return false;
      }
      case "putIntoPreset": {
        const target = await this.target(report);
        if (target !== undefined) await putIntoPreset(target, change);
        return false;
      }
      case "restartServer": {
        const request = this.started(report);
        if (request === undefined) return false;
        const changed = { ...request, arguments: argumentsWithChange(request.arguments, change) };
        if ((await this.starter.start(changed)) === undefined) return false;
        await commands.executeCommand("llamaGauge.refresh" satisfies CommandId);
        return true;
      }
    }
  }

  private async actions(report: GaugeReport): Promise<readonly WhatIfAction[]> {
    const target = await this.target(report);
    return [
      "copyFlags",
      ...(target === undefined ? [] : (["putIntoPreset"] as const)),
      ...(this.started(report) === undefined ? [] : (["restartServer"] as const)),
    ];
  }

  private async target(report: GaugeReport): ReturnType<typeof presetTarget> {
    return presetTarget(this.started(report)?.preset, this.outside.modelPath());
  }

  private started({ server }: GaugeReport): ReturnType<ServerStarter["startedAt"]> {
    return server.known ? this.starter.startedAt(server.value.url) : undefined;
  }
}
