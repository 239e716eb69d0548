import type { ServerCandidate } from "../../app/servers";
import { say } from "../../core/text";
import { serverUrl } from "../editor/settings";
import { pickWhileSearching } from "../editor/quickPick";
import { nothingShown, shownName } from "../../core/shown";
import { enterText, type PickItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";

interface ServerItem extends PickItem {
  readonly url: string | undefined;
}

/** Asks for a server; `""` means "look for one each time". Undefined where the user chose nothing. */
export async function chooseServer(
  current: string,
  discover: (signal: AbortSignal) => Promise<readonly ServerCandidate[]>,
): Promise<string | undefined> {
  const fixed: ServerItem[] = [
    {
      label: localized(say`Detect a server on this machine each time`),
      description: current === "" ? localized(say`current`) : nothingShown,
      url: "",
    },
    { label: localized(say`Enter an address …`), alwaysShow: true, url: undefined },
  ];
  const chosen = await pickWhileSearching<ServerItem>(
    { title: localized(say`Choose llama-server`), placeholder: localized(say`Responding servers`) },
    fixed,
    async (signal) =>
      (await discover(signal)).map(({ url, description }) => ({
        label: shownName(url),
        description: url === current ? localized(say`current`) : nothingShown,
        detail: localized(description),
        url,
      })),
  );
  if (chosen === undefined) return undefined;
  return chosen.url ?? askForAddress(current);
}

/** An address that a keybinding or a task gives the command; undefined: the user is asked. */
export function serverOfArgument(argument: unknown): string | undefined {
  return typeof argument === "string" ? serverUrl(argument) : undefined;
}

async function askForAddress(current: string): Promise<string | undefined> {
  const typed = await enterText({
    title: localized(say`Address of llama-server`),
    value: current === "" ? "http://127.0.0.1:8080" : current,
    validateInput: (text) =>
      serverUrl(text) === undefined || text.trim() === ""
        ? localized(say`An http or https URL, for example http://127.0.0.1:8080`)
        : undefined,
  });
  return typed === undefined ? undefined : serverUrl(typed);
}
