import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { builtProduct, packagedExtension, runScript } from "../../support/product";

declare module "vitest" {
  interface ProvidedContext {
    /** The packaged extension under test. */
    readonly vsix: string;
  }
}

/**
 * Packages the extension before the first UI test: users get the VSIX, so the VSIX is what is tested. The command line that
 * it is held against is built from the same source.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // of its own: other tests may package at the same time
  const folder = await mkdtemp(path.join(os.tmpdir(), "lg-vsix-"));
  const vsix = packagedExtension() ?? path.join(folder, "llama-gauge.vsix");
  if (packagedExtension() === undefined) await runScript("package.mjs", vsix);
  await builtProduct();
  project.provide("vsix", vsix);
  return () => rm(folder, { recursive: true, force: true });
}
