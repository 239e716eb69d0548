import { commandsOf } from "./commandReport";
import { dockerCommands } from "./dockerCommands";
import { withInnerCommands } from "./innerShell";
import { jsonCommands } from "./jsonCommands";
import { scriptLanguages, type ScriptLanguage } from "./scriptLanguages";
import type { Shell, SimpleCommand } from "./splitCommandLine";
import { systemdCommands } from "./systemdCommands";
import { yamlCommands } from "./yamlCommands";

/** The commands in a file, and the shell whose quotes they are shown with. */
export interface ScriptCommands {
  readonly shell: Shell;
  readonly commands: readonly SimpleCommand[];
}

/** A script that starts a server is short. */
export const maxScriptLength = 2 ** 19;

/** Is it a script by its language and its words, but too long to be read? */
export const isLongScript = (text: string, languageId: string): boolean =>
  text.length > maxScriptLength && scriptLanguages.some((each) => each === languageId) && mentions.test(text);

const mentions = /\bllama(?:-server|\s+serve|\.cpp)/;

/** Undefined for files that start no llama-server, and for those that are no scripts. */
export function scriptCommands(text: string, languageId: string): ScriptCommands | undefined {
  const language = scriptLanguages.find((each) => each === languageId);
  if (language === undefined || text.length > maxScriptLength) return undefined;
  if (!mentions.test(text)) return undefined;
  return commandsIn(text, language);
}

function commandsIn(text: string, language: ScriptLanguage): ScriptCommands {
  switch (language) {
    case "shellscript":
      return { shell: "posix", commands: commandsOf(text, "posix") };
    case "powershell":
      return { shell: "powershell", commands: commandsOf(text, "powershell") };
    case "bat":
      return { shell: "cmd", commands: commandsOf(text, "cmd") };
    case "json":
    case "jsonc":
      return { shell: "posix", commands: withInnerCommands(jsonCommands(text)) };
    case "yaml":
    case "dockercompose":
      return { shell: "posix", commands: withInnerCommands(yamlCommands(text)) };
    case "systemd-unit-file":
    case "systemd-conf":
    case "ini":
    case "properties":
      return { shell: "posix", commands: withInnerCommands(systemdCommands(text)) };
    case "dockerfile":
      return { shell: "posix", commands: withInnerCommands(dockerCommands(text)) };
  }
}
