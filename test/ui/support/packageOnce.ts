import path from "node:path";
import { execa } from "execa";
import type { TestProject } from "vitest/node";
import { repository } from "../../support/repository";

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
export async function setup(project: TestProject): Promise<void> {
  for (const script of ["scripts/package.mjs", "scripts/build.mjs"]) {
    const { exitCode, stderr } = await execa(process.execPath, [path.join(repository, script)], {
      timeout: 180_000,
      reject: false,
    });
    if (exitCode !== 0) throw new Error(`${script} failed\n${stderr.slice(0, 2000)}`);
  }
  project.provide("vsix", path.join(repository, "out/llama-gauge.vsix"));
}
