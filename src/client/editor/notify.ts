import { commands } from "vscode";
import type { Log } from "../../core/log";
import { together, type Shown } from "../../core/shown";
import { say, type Text } from "../../core/text";
import { UserError, type UserErrorReason } from "../../core/userError";
import { isAbort } from "./cancellation";
import type { CommandId } from "./commandIds";
import { notify } from "./screen";
import { localized } from "./vscodeText";
import { inBackground } from "./background";

interface Offer {
  readonly title: Text;
  readonly command: CommandId | "workbench.trust.manage";
}

const showLog: Offer = { title: say`Show log`, command: "llamaGauge.showLog" };
const chooseServer: Offer = { title: say`Choose server`, command: "llamaGauge.chooseServer" };

const offers: Partial<Record<UserErrorReason, readonly Offer[]>> = {
  refused: [chooseServer, showLog],
  timeout: [chooseServer, showLog],
  badOutput: [chooseServer, showLog],
  unauthorized: [{ title: say`Enter API key`, command: "llamaGauge.setApiKey" }],
  loading: [{ title: say`Try again`, command: "llamaGauge.refresh" }],
  untrusted: [{ title: say`Manage workspace trust`, command: "workbench.trust.manage" }],
};

/**
 * Runs what a command does and tells its failure: a `UserError` with its remedy and an offer, a cancellation not at
 * all, anything else as a bug with a way to the log. Resolves to undefined after a failure.
 */
export async function reportingErrors<T>(
  name: string,
  log: Log,
  run: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (isAbort(error)) return undefined;
    if (error instanceof UserError) {
      log.warn(`${name}: ${error.message}`);
      // not awaited: a message may stay open for ever
      inBackground(
        showError(
          together([localized(error.problem), localized(error.remedy)], " "),
          offers[error.reason] ?? [showLog],
        ),
      );
    } else {
      log.error(`${name} failed`, error);
      inBackground(
        showError(localized(say`Internal error in Llama Gauge. See the log for details.`), [showLog]),
      );
    }
    return undefined;
  }
}

async function showError(message: Shown, choices: readonly Offer[]): Promise<void> {
  const titles = choices.map((offer) => localized(offer.title));
  const chosen = await notify("error", message, titles);
  const offer = chosen === undefined ? undefined : choices[titles.indexOf(chosen)];
  if (offer !== undefined) await commands.executeCommand(offer.command);
}
