import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LaunchOptions } from "../../src/core/launch/launchOptions";
import { breakdown } from "../../src/core/memory/budget/breakdown";
import { fitPrintArguments, type FitPrintRow } from "../../src/core/memory/budget/fitParams";
import { UserError } from "../../src/core/userError";
import { modelOf } from "../../src/core/model/modelOf";
import { fitPrint } from "../../src/node/machine/fitProbe";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { llamaProgram } from "../support/llamaCpp";
import { SeededRandom } from "../support/seededRandom";
import { headers } from "../unit/core/memory/fixtures";
import { headerVariant } from "./memory/headerVariants";
import { writeSparseModel } from "./memory/sparseModel";

const MiB = 2 ** 20;
const signal = new AbortController().signal;

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "llama-gauge-variants-"));
  program = await llamaProgram("llama-fit-params");
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function settings(random: SeededRandom): LaunchOptions {
  const flashAttn = random.pick(["on", "off"] as const);
  const type = random.pick(["f16", "q8_0", "q4_0", "bf16", "f32"]);
  return {
    ctxSize: random.pick([512, 1000, 4096, 20_000, 33_000, 131_072]),
    parallel: random.pick([1, 2, 3, 4, 8]),
    ubatchSize: random.pick([64, 100, 256, 512, 1024]),
    flashAttn,
    ...(flashAttn === "on" && { cacheTypeK: type, cacheTypeV: type }),
    swaFull: random.below(6) === 0,
    fit: false,
  };
}

/** What llama.cpp would allocate on the host; undefined where it refuses the model or the options. */
async function allocated(file: string, options: LaunchOptions): Promise<FitPrintRow | undefined> {
  try {
    return (await fitPrint(program, fitPrintArguments(file, options), signal))[0];
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

describe("models nobody has, as llama.cpp allocates for them", () => {
  it("have the memory that is computed", { timeout: 180_000 }, async () => {
    const random = new SeededRandom(20_261_130);
    let compared = 0;
    for (const [name, original] of headers()) {
      const { header, label } = headerVariant(original, random);
      const file = path.join(folder, name);
      await writeSparseModel(file, header);
      const model = modelOf(await readGgufHeader(file, signal));
      for (const options of [settings(random), settings(random)]) {
        const host = await allocated(file, options);
        if (host === undefined) continue;
        const ours = breakdown(model, options, [], { caller: "fitParams" }).rows[0];
        if (ours === undefined) throw new Error("no row for the host");
        const what = `${name} with ${label}, ${JSON.stringify(options)}`;
        expect(Math.floor((ours.kv + ours.recurrent) / MiB), what).toBe(host.context);
        expect(Math.abs(ours.weights / MiB - host.model), what).toBeLessThanOrEqual(2);
        expect(Math.abs(ours.compute.bytes / MiB - host.compute), what).toBeLessThanOrEqual(
          Math.max(1, 0.05 * host.compute),
        );
        compared++;
      }
      await rm(file);
    }
    expect(compared).toBeGreaterThan(24);
  });
});
