import path from "node:path";
import type { StartOutside } from "./client/servers/serverStarter";
import type { Settings } from "./app/settings";
import { planStart } from "./core/servers/startPlan";
import { say } from "./core/text";
import { UserError } from "./core/userError";

/** Ways to the outside of a server that is to be started. `logFolder`: of this window. */
export function startOutside(settings: () => Settings, logFolder: string): StartOutside {
  let starts = 0;
  return {
    prepare: async (argv, signal) => {
      const { llamaCppFolder, model } = settings();
      const { findLlamaProgram } = await import("./node/machine/llamaPrograms");
      const { freeLoopbackPort, isTaken, newLogFile } = await import("./node/llamaServer/serverStart");
      const { usualPorts } = await import("./node/llamaServer/serverDiscovery");
      const program = await findLlamaProgram("llama-server", llamaCppFolder);
      if (program === undefined) throw noProgram(llamaCppFolder);
      const plan = planStart(argv, {
        port: await freeLoopbackPort(usualPorts.slice(0, 2)),
        logFile: await newLogFile(path.join(logFolder, `llama-server-${++starts}.log`)),
        ...(model !== "" && !/^https?:/i.test(model) && { model }),
        environment: process.env,
      });
      if (await isTaken(plan.url, signal)) {
        throw new UserError(
          "invalidInput",
          say`Something listens at ${plan.url} already.`,
          say`Stop it, or give another --port.`,
        );
      }
      return { program, plan };
    },
    untilReady: async ({ url, apiKey }, signal) => {
      const { waitUntilReady } = await import("./node/llamaServer/serverStart");
      return waitUntilReady(url, apiKey, signal);
    },
    failure: async (name, { logFile }, exitCode) => {
      const { logTail } = await import("./node/llamaServer/serverStart");
      const { startFailure } = await import("./core/logs/startFailure");
      return startFailure(name, await logTail(logFile), exitCode);
    },
    untilGone: async (pid) => {
      const { untilGone } = await import("./node/llamaServer/serverStart");
      await untilGone(pid);
    },
  };
}

function noProgram(folder: string): UserError {
  return folder === ""
    ? new UserError(
        "notFound",
        say`There is no llama-server in PATH.`,
        say`Name the folder of llama.cpp's programs (llamaGauge.llamaCppFolder).`,
      )
    : new UserError(
        "notFound",
        say`There is no llama-server in ${folder}.`,
        say`Correct llamaGauge.llamaCppFolder, or empty it to search PATH.`,
      );
}
