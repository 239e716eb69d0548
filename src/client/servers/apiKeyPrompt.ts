import { say } from "../../core/text";
import type { ApiKeys } from "./apiKeys";
import { isReadableByOthers } from "../../core/servers/serverAddress";
import { askToGoOn, enterText } from "../editor/screen";
import { localized } from "../editor/vscodeText";

/** Asks for the key of a server and keeps it; false where the user gave none. */
export async function askForApiKey(keys: ApiKeys, serverUrl: string): Promise<boolean> {
  const key = await enterText({
    title: localized(say`API key for ${serverUrl}`),
    prompt: localized(say`Stored in VS Code's secret storage. Leave empty to delete the stored key.`),
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return false;
  // kept means sent: what was not agreed to is not kept
  if (key.trim() !== "" && isReadableByOthers(serverUrl) && !(await agreed(serverUrl))) return false;
  await keys.set(serverUrl, key.trim());
  return key.trim() !== "";
}

const agreed = (serverUrl: string): Promise<boolean> =>
  askToGoOn(
    "warning",
    localized(say`Send the API key to ${serverUrl} without encryption?`),
    localized(say`Send`),
    localized(
      say`The address begins with http and is on another machine: others in the network can read the key. Use https, or an SSH tunnel to 127.0.0.1.`,
    ),
  );
