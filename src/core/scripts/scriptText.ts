import { commandsIn, type EmbeddingFile } from "./embeddedCommands";
import type { Shell } from "./splitCommandLine";

/** What of a file a shell would read, at the places it has in the file. */
export interface ScriptText {
  readonly text: string;
  readonly shell: Shell;
}

const shells: Readonly<Record<string, Shell>> = {
  shellscript: "posix",
  powershell: "powershell",
  bat: "cmd",
};
const files: Readonly<Record<string, EmbeddingFile>> = {
  json: "json",
  jsonc: "json",
  yaml: "yaml",
  dockercompose: "yaml",
  dockerfile: "dockerfile",
};

/** Languages of the editor in whose files a command line of llama-server may stand. */
export const scriptLanguages: readonly string[] = [...Object.keys(shells), ...Object.keys(files)];

/** A script that starts a server is short. */
const maxLength = 2 ** 20;

/** Undefined for files that start no llama-server, and for those that are no scripts. */
export function scriptText(text: string, languageId: string): ScriptText | undefined {
  if (text.length > maxLength || !/\bllama(?:-server|\s+serve|\.cpp)/.test(text)) return undefined;
  const shell = shells[languageId];
  if (shell !== undefined) return { text, shell };
  const file = files[languageId];
  return file && { text: commandsIn(text, file), shell: file === "yaml" ? "words" : "posix" };
}
