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

/** Packages the extension before the first UI test: users get the VSIX, so the VSIX is what is tested. */
export async function setup(project: TestProject): Promise<void> {
  const script = path.join(repository, "scripts/package.mjs");
  const { exitCode, stderr } = await execa(process.execPath, [script], { timeout: 180_000, reject: false });
  if (exitCode !== 0) throw new Error(`the extension cannot be packaged\n${stderr.slice(0, 2000)}`);
  project.provide("vsix", path.join(repository, "out/llama-gauge.vsix"));
}
