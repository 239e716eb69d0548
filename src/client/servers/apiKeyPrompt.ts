import { say } from "../../core/text";
import type { ApiKeys } from "./apiKeys";
import { enterText } from "../editor/screen";
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
  await keys.set(serverUrl, key.trim());
  return key.trim() !== "";
}
