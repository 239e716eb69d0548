import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { repository } from "./repository";

export interface BuiltWorker {
  readonly file: string;
  /** A folder of the test's own beside it. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** The worker program, bundled as it ships. `entry`: another source to bundle in its place. */
export async function buildWorker(entry = "src/node/tokenizer/worker.ts"): Promise<BuiltWorker> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "gauge-worker-"));
  const file = path.join(folder, "worker.js");
  await build({
    entryPoints: [path.join(repository, entry)],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    logLevel: "error",
  });
  return { file, folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
