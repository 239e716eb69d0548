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
  // systemd's units, by the extensions that know them
  "systemd-unit-file",
  "systemd-conf",
  "ini",
  "properties",
] as const;

export type ScriptLanguage = (typeof scriptLanguages)[number];
