import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { repository } from "../repository";

type Values = Readonly<Record<string, unknown>>;

/**
 * Settings a fresh profile starts with, the user's and the machine's each in its own file. VS Code's server is another machine
 * than its window's: such a window takes what belongs to a machine from the user's settings only as long as it does not know
 * whose setting it is, so whether it does would depend on which is read first.
 */
export async function writeProfileSettings(userDataDir: string, settings: Values): Promise<void> {
  const file = path.join(userDataDir, "User/settings.json");
  if (existsSync(file)) return;
  const machines = await machineSettings();
  const part = (ofMachine: boolean): Values =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => machines.has(name) === ofMachine));
  // code-server keeps the user's settings on the server's disk, so a file written before the start counts
  await merge(file, part(false));
  await writeMachineSettings(userDataDir, part(true));
}

/** Adds settings of the machine; a window that is open takes them over by itself. */
export async function writeMachineSettings(userDataDir: string, settings: Values): Promise<void> {
  await merge(path.join(userDataDir, "Machine/settings.json"), settings);
}

async function merge(file: string, settings: Values): Promise<void> {
  const former = existsSync(file) ? (JSON.parse(await readFile(file, "utf8")) as Values) : {};
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify({ ...former, ...settings }, undefined, 2));
}

/** Names of the extension's settings that belong to a machine, and of VS Code's own that tests set. */
async function machineSettings(): Promise<ReadonlySet<string>> {
  const text = await readFile(path.join(repository, "package.json"), "utf8");
  const { contributes } = JSON.parse(text) as {
    readonly contributes: {
      readonly configuration: readonly {
        readonly properties: Readonly<Record<string, { readonly scope?: string }>>;
      }[];
    };
  };
  const own = contributes.configuration
    .flatMap(({ properties }) => Object.entries(properties))
    .flatMap(([name, { scope }]) => (scope?.startsWith("machine") === true ? [name] : []));
  return new Set([...own, "workbench.welcomePage.walkthroughs.openOnInstall"]);
}
