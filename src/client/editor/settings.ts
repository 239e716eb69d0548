import type { Settings } from "../../app/settings";
import { defaultWalkOptions } from "../../core/files/files";
import { serverAddressIn } from "../../core/servers/serverAddress";
import { defaultPackTemplate } from "../../core/tokens/pack";

/** A setting whose value cannot be used; the default holds instead. */
export interface SettingProblem {
  readonly setting: string;
  readonly value: unknown;
}

/** Setting ids below `llamaGauge.`, with the manifest's defaults. */
export const settingDefaults = {
  "server.url": "",
  "server.model": "",
  "server.log": "",
  llamaCppFolder: "",
  model: "",
  modelFolders: [] as readonly string[],
  serverArguments: "",
  answerReserveTokens: 2048,
  patienceSeconds: 300,
  "memory.marginMiB": null,
  probeSeconds: 60,
  exclude: defaultWalkOptions.exclude,
  useIgnoreFiles: defaultWalkOptions.useIgnoreFiles,
  followLinks: false,
  maxFileBytes: defaultWalkOptions.maxFileBytes,
  maxFiles: defaultWalkOptions.maxFiles,
  packTemplate: defaultPackTemplate.format,
  packOrder: defaultPackTemplate.order,
  showPanelOnEstimate: true,
} as const;

export type SettingKey = keyof typeof settingDefaults;

/** Checks every value; `read` gives the raw value of a full setting id. */
export function parseSettings(read: (id: string) => unknown): {
  readonly settings: Settings;
  readonly problems: readonly SettingProblem[];
} {
  const problems: SettingProblem[] = [];
  function get<T>(key: SettingKey, accept: (value: unknown) => T | undefined, fallback: T): T {
    const setting = `llamaGauge.${key}`;
    const value = read(setting);
    if (value === undefined || value === null) return fallback;
    const accepted = accept(value);
    if (accepted !== undefined) return accepted;
    problems.push({ setting, value });
    return fallback;
  }
  const defaults = settingDefaults;
  const settings: Settings = {
    serverUrl: get("server.url", serverUrl, defaults["server.url"]),
    serverModel: get("server.model", trimmed, defaults["server.model"]),
    serverLog: get("server.log", trimmed, defaults["server.log"]),
    llamaCppFolder: get("llamaCppFolder", trimmed, defaults.llamaCppFolder),
    model: get("model", trimmed, defaults.model),
    modelFolders: get("modelFolders", strings, defaults.modelFolders),
    serverArguments: get("serverArguments", trimmed, defaults.serverArguments),
    marginBytes: get<number | undefined>("memory.marginMiB", mebibytes, undefined),
    answerReserveTokens: get("answerReserveTokens", naturalNumber, defaults.answerReserveTokens),
    patienceSeconds: get("patienceSeconds", patience, defaults.patienceSeconds),
    probeSeconds: get("probeSeconds", probeBudget, defaults.probeSeconds),
    exclude: get("exclude", strings, defaults.exclude),
    useIgnoreFiles: get("useIgnoreFiles", flag, defaults.useIgnoreFiles),
    followLinks: get("followLinks", flag, defaults.followLinks),
    maxFileBytes: get("maxFileBytes", positiveNumber, defaults.maxFileBytes),
    maxFiles: get("maxFiles", positiveNumber, defaults.maxFiles),
    packTemplate: get("packTemplate", oneOf(["markdown", "xml"]), defaults.packTemplate),
    packOrder: get("packOrder", oneOf(["walk", "importantFirst", "importantLast"]), defaults.packOrder),
    showPanelOnEstimate: get("showPanelOnEstimate", flag, defaults.showPanelOnEstimate),
    filesExclude: switchedOn(read("files.exclude")),
  };
  return { settings: Object.freeze(settings), problems };
}

function trimmed(value: unknown): string | undefined {
  return typeof value === "string" ? value.trim() : undefined;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function oneOf<const T extends string>(choices: readonly T[]): (value: unknown) => T | undefined {
  return (value) => choices.find((choice) => choice === value);
}

function naturalNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function probeBudget(value: unknown): number | undefined {
  const seconds = naturalNumber(value);
  return seconds !== undefined && seconds >= 5 && seconds <= 3600 ? seconds : undefined;
}

/** Up to a day. */
function patience(value: unknown): number | undefined {
  const seconds = naturalNumber(value);
  return seconds !== undefined && seconds <= 86_400 ? seconds : undefined;
}

function mebibytes(value: unknown): number | undefined {
  const number = naturalNumber(value);
  return number === undefined || number > 2 ** 20 ? undefined : number * 2 ** 20;
}

function positiveNumber(value: unknown): number | undefined {
  return value === 0 ? undefined : naturalNumber(value);
}

function strings(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) return undefined;
  return value.map((item: string) => item.trim()).filter((item) => item !== "");
}

/** The root address of a server; "" where none is set, undefined where it is no address. */
export function serverUrl(value: unknown): string | undefined {
  const text = trimmed(value);
  return text === undefined || text === "" ? text : serverAddressIn(text);
}

function switchedOn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([glob, on]) => (on === true ? [glob] : []));
}
