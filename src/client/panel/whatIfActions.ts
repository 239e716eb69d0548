import { commands, env } from "vscode";
import { argumentsWithChange, changeArguments, type LaunchChange } from "../../core/launch/launchChange";
import type { WhatIfAction } from "../../core/protocol/whatIfMessages";
import type { Estimated } from "../../core/report/situation";
import { serverHasChanged } from "../../core/report/serverChange";
import { joinCommandLine } from "../../core/scripts/joinCommandLine";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { cancellable } from "../editor/cancellable";
import type { CommandId } from "../editor/commandIds";
import { showBriefly } from "../editor/screen";
import { localized } from "../editor/vscodeText";
import type { ServerStarter } from "../servers/serverStarter";
import { presetTarget, putIntoPreset } from "./presetTarget";

/** What can be done with a change that was tried on a report. */
export async function offeredActions(
  shown: Estimated,
  starter: ServerStarter,
): Promise<readonly WhatIfAction[]> {
  const target = await targetOf(shown, starter);
  return [
    "copyFlags",
    ...(target === undefined ? [] : (["putIntoPreset"] as const)),
    ...(startedFor(shown, starter) === undefined ? [] : (["restartServer"] as const)),
  ];
}

/** @returns whether the change is now how it is, so that nothing is left to try */
export async function doWithChange(
  action: WhatIfAction,
  change: LaunchChange,
  shown: Estimated,
  starter: ServerStarter,
): Promise<boolean> {
  await stillHolds(shown);
  switch (action) {
    case "copyFlags": {
      const shell = process.platform === "win32" ? "powershell" : "posix";
      await env.clipboard.writeText(joinCommandLine(changeArguments(change), shell));
      showBriefly(localized(say`Options copied`));
      return false;
    }
    case "putIntoPreset": {
      const target = await targetOf(shown, starter);
      if (target !== undefined) await putIntoPreset(target, change);
      return false;
    }
    case "restartServer": {
      const request = startedFor(shown, starter);
      if (request === undefined) return false;
      const changed = { ...request, arguments: argumentsWithChange(request.arguments, change) };
      if ((await starter.start(changed)) === undefined) return false;
      await commands.executeCommand("llamaGauge.refresh" satisfies CommandId);
      return true;
    }
  }
}

/** What was judged for another model helps nobody: it is estimated again instead. */
async function stillHolds({ situation }: Estimated): Promise<void> {
  if (!(await cancellable(say`Looking at the server`, (signal) => serverHasChanged(situation, signal))))
    return;
  await commands.executeCommand("llamaGauge.refresh" satisfies CommandId);
  throw new UserError(
    "invalidInput",
    say`The server has changed since the estimate: it has ended, or has another model or context now.`,
    say`It was estimated again; choose among what helps now.`,
  );
}

function targetOf(shown: Estimated, starter: ServerStarter): ReturnType<typeof presetTarget> {
  return presetTarget(startedFor(shown, starter)?.preset, shown.situation.launch.model);
}

function startedFor(
  { report: { server } }: Estimated,
  starter: ServerStarter,
): ReturnType<ServerStarter["startedAt"]> {
  return server.known ? starter.startedAt(server.value.url) : undefined;
}
