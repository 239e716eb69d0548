import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import { repository } from "./repository";

/** A program in a file of its own, made from TypeScript that imports from `src`; for tests that kill or measure it. */
export async function bundledProgram(
  source: string,
): Promise<{ readonly file: string; remove(): Promise<void> }> {
  // Inside the repository, so that the packages it imports are found.
  const folder = await mkdtemp(path.join(repository, "out", "program-"));
  const file = path.join(folder, "program.mjs");
  await build({
    stdin: { contents: source, resolveDir: repository, loader: "ts" },
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outfile: file,
    logLevel: "error",
  });
  return { file, remove: () => rm(folder, { recursive: true, force: true }) };
}
