import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundledProgram } from "../support/bundled";
import { targets } from "../support/fuzz/targets";
import { slowness } from "../support/slowness";

/** Of all targets together; `npm test -- fuzz --seconds 600 --seed 7` tries longer, and other inputs. */
const seconds = Number(process.env["LLAMA_GAUGE_FUZZ_SECONDS"] ?? 30);
const seed = Number(process.env["LLAMA_GAUGE_FUZZ_SEED"] ?? 1);
const each = seconds / Object.keys(targets).length;
const heapMiB = 400;
/** Code and libraries take a part of it. */
const peakMiB = 1024;

interface Outcome {
  readonly tries: number;
  readonly refused: number;
  readonly faults: readonly { readonly seed: number; readonly error: string }[];
  readonly worstMs: number;
  readonly worstSeed: number;
  readonly peakBytes: number;
}

describe("inputs made by chance", () => {
  let program: Awaited<ReturnType<typeof bundledProgram>>;

  beforeAll(async () => {
    program = await bundledProgram("fuzz");
  });

  afterAll(async () => {
    await program.remove();
  });

  it.each(Object.keys(targets))(
    "%s: no crash, no hang, bounded memory, every refusal a UserError",
    { timeout: (each * 5 + 120) * 1000 },
    async (name) => {
      const args = [`--max-old-space-size=${heapMiB}`, program.file, name, String(seed), String(each)];
      const timeout = (each * 2 + 60) * 1000;
      const { stdout, stderr, timedOut, exitCode } = await execa(process.execPath, args, {
        reject: false,
        timeout,
        env: { NODE_OPTIONS: "" },
      });
      const last = stdout.split("\n").at(-1) ?? "";
      expect({ timedOut, exitCode, seed: last.slice(0, 20), stderr: stderr.slice(-500) }).toMatchObject({
        timedOut: false,
        exitCode: 0,
      });
      const outcome = JSON.parse(last) as Outcome;
      console.log(
        `${name.padEnd(16)} ${String(outcome.tries).padStart(7)} tries  ${String(outcome.refused).padStart(7)} refused  ${String(outcome.faults.length).padStart(3)} faults  worst ${outcome.worstMs.toFixed(0).padStart(5)} ms  ${(outcome.peakBytes / 2 ** 20).toFixed(0).padStart(4)} MiB`,
      );
      expect(outcome.faults).toEqual([]);
      expect(outcome.tries).toBeGreaterThan(1);
      expect(outcome.worstMs, `seed ${outcome.worstSeed}`).toBeLessThan(1000 * slowness());
      expect(outcome.peakBytes).toBeLessThan(peakMiB * 2 ** 20);
    },
  );
});
