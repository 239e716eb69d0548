import { mkdir, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import { repository } from "./repository";

/** A program of test/support/programs in a file of its own; for tests that kill or measure it. */
export async function bundledProgram(
  name: string,
): Promise<{ readonly file: string; remove(): Promise<void> }> {
  // Inside the repository, so that the packages it imports are found.
  await mkdir(path.join(repository, "out"), { recursive: true });
  const folder = await mkdtemp(path.join(repository, "out", "program-"));
  const file = path.join(folder, "program.mjs");
  await build({
    entryPoints: [path.join(repository, "test/support/programs", `${name}.ts`)],
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile: file,
    logLevel: "error",
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}
