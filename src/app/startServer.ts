import path from "node:path";
import { startFailure } from "../core/logs/startFailure";
import { planStart, type Readiness, type StartPlan } from "../core/servers/startPlan";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { usualPorts } from "../node/llamaServer/serverDiscovery";
import {
  freeLoopbackPort,
  isTaken,
  logTail,
  newLogFile,
  untilGone,
  waitUntilReady,
} from "../node/llamaServer/serverStart";
import { findLlamaProgram } from "../node/machine/llamaPrograms";
import type { AppHost } from "./host";

export interface ServerStartHost extends Pick<AppHost, "settings"> {
  /** Where the logs of servers lie that are started from this window. */
  readonly logFolder: string;
}

/** What starting a llama-server takes besides the process itself. */
export class ServerStart {
  #starts = 0;

  constructor(private readonly host: ServerStartHost) {}

  /** @throws UserError where there is no program, no model, or somebody else listens at the address */
  async prepare(
    argv: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly program: string; readonly plan: StartPlan }> {
    const { llamaCppFolder, model } = this.host.settings();
    const program = await findLlamaProgram("llama-server", llamaCppFolder);
    if (program === undefined) throw noProgram(llamaCppFolder);
    const plan = planStart(argv, {
      port: await freeLoopbackPort(usualPorts.slice(0, 2)),
      logFile: await newLogFile(path.join(this.host.logFolder, `llama-server-${++this.#starts}.log`)),
      ...(model !== "" && !/^https?:/i.test(model) && { model }),
      environment: process.env,
    });
    if (await isTaken(plan.url, signal)) {
      throw new UserError(
        "invalidInput",
        say`Something is already listening at ${plan.url}.`,
        say`Stop it, or give another --port.`,
      );
    }
    return { program, plan };
  }

  async untilReady({ url, apiKey }: StartPlan, signal: AbortSignal): Promise<Readiness> {
    return waitUntilReady(url, apiKey, signal);
  }

  /** Why a server has ended before it was ready, as its log tells. */
  async failure(name: string, { logFile }: StartPlan, exitCode: number | undefined): Promise<UserError> {
    return startFailure(name, await logTail(logFile), exitCode);
  }

  /** Resolves when the process has let go of its memory and its port; at the latest after some seconds. */
  async untilGone(pid: number): Promise<void> {
    await untilGone(pid);
  }
}

function noProgram(folder: string): UserError {
  return folder === ""
    ? new UserError(
        "notFound",
        say`llama-server was not found on PATH.`,
        say`Set the folder of llama.cpp's programs (llamaGauge.llamaCppFolder).`,
      )
    : new UserError(
        "notFound",
        say`llama-server was not found in ${folder}.`,
        say`Correct llamaGauge.llamaCppFolder, or leave it empty to search PATH.`,
      );
}
