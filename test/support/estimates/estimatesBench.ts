import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { Estimates } from "../../../src/app/estimates";
import { SettingsStore } from "../../../src/client/editor/settingsStore";
import type { Log } from "../../../src/core/log";
import { say } from "../../../src/core/text";
import { UserError } from "../../../src/core/userError";
import { writeSparseModel } from "../../integration/memory/sparseModel";
import { headers } from "../../unit/core/memory/fixtures";
import { testHost } from "../appHost";
import type { VscodeStub } from "./vscodeStub";

/** Two models of real sizes. */
export type ModelName = "llama-3.1-8b-q4_k_m.gguf" | "qwen2.5-14b-q4_k_m.gguf";

export interface EstimatesBench {
  readonly estimates: Estimates;
  readonly settings: SettingsStore;
  readonly log: Log;
  /** A folder with two files in it. */
  readonly root: string;
  /** Chooses a model, as the settings do. */
  choose(model: ModelName): void;
  dispose(): Promise<void>;
}

/** In place of `openGgufTokenizer`: the models here have none. */
export const noVocabulary = (): Promise<never> =>
  Promise.reject(
    new UserError("invalidInput", say`This GGUF file has no vocabulary.`, say`Choose another file.`),
  );

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The extension's own estimates, over files, models and a server that does not answer. */
export async function estimatesBench(vscode: VscodeStub): Promise<EstimatesBench> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "gauge-estimates-"));
  const all = headers();
  for (const name of ["llama-3.1-8b-q4_k_m.gguf", "qwen2.5-14b-q4_k_m.gguf"] satisfies ModelName[]) {
    const header = all.get(name);
    if (header === undefined) throw new Error(`no header of ${name}`);
    await writeSparseModel(path.join(folder, name), header);
  }
  const root = path.join(folder, "harbour");
  await mkdir(root);
  for (const name of ["gate.md", "tides.md"]) {
    await writeFile(path.join(root, name), "The tide is high enough between nine and eleven.\n".repeat(100));
  }
  vscode.set("llamaGauge.server.url", "http://127.0.0.1:1");
  const settings = new SettingsStore(silent);
  const host = testHost(path.join(folder, "cache"));
  const estimates = new Estimates({ ...host, settings: () => settings.value, trusted: () => false });
  return {
    ...{ estimates, settings, log: silent, root },
    choose: (model) => vscode.set("llamaGauge.model", path.join(folder, model)),
    dispose: async () => {
      await estimates.close();
      settings.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
