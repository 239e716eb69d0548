/** Languages of the editor in whose files a command line of llama-server may stand. */
export const scriptLanguages = [
  "shellscript",
  "powershell",
  "bat",
  "json",
  "jsonc",
  "yaml",
  "dockercompose",
  "dockerfile",
] as const;

export type ScriptLanguage = (typeof scriptLanguages)[number];
