import path from "node:path";
import { execa } from "execa";
import { repository } from "./repository";

/**
 * The extension packaged from the present sources by `npm test`, which has then built the programs in dist/ as well, once for all
 * its stages. Not there where one stage runs by itself.
 */
export function packagedExtension(): string | undefined {
  return process.env["LLAMA_GAUGE_VSIX"] || undefined;
}

let built: Promise<unknown> | undefined;

/** The programs in dist/ are those of the present sources. */
export async function builtProduct(): Promise<void> {
  built ??= packagedExtension() === undefined ? runScript("build.mjs") : Promise.resolve();
  await built;
}

/** Runs one of the scripts; fails with what it said. */
export async function runScript(name: string, ...args: readonly string[]): Promise<void> {
  const file = path.join(repository, "scripts", name);
  const { exitCode, stderr } = await execa(process.execPath, [file, ...args], {
    timeout: 180_000,
    reject: false,
  });
  if (exitCode !== 0) throw new Error(`${name} failed\n${stderr.slice(0, 2000)}`);
}
