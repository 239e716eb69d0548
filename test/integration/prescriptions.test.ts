import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { argumentsWithChange, type LaunchChange } from "../../src/core/launch/launchChange";
import { cliJson } from "../support/cli";
import { forgedModel } from "../support/forge/forgeModel";
import { startLlamaServer } from "../support/llamaCpp";
import { postJson } from "../support/postJson";
import { SeededRandom } from "../support/seededRandom";

/** More of them by hand: `PRESCRIPTION_SETUPS=40 npx vitest run --root test integration/prescriptions`. */
const setups = Number(process.env["PRESCRIPTION_SETUPS"] ?? 3);

interface Checked {
  readonly verdict: { readonly kind: string };
  readonly acceptance: { readonly promptTokens: number; readonly accepted: boolean | null };
  readonly prescriptions: readonly {
    readonly flags?: readonly string[];
    readonly options?: LaunchChange;
    readonly leaveOut?: { readonly files: readonly { readonly label: string }[] };
    readonly verdict: { readonly kind: string };
    readonly promptTokens: number;
    readonly nCtxPerSlot: number;
  }[];
}

let folder: string;
let models: readonly string[];
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-prescriptions-"));
  models = await Promise.all([
    forgedModel({ contextLength: 2048 }),
    forgedModel({ contextLength: 2048, architecture: "qwen35moe" }),
    forgedModel({ contextLength: 2048, architecture: "gemma3" }),
  ]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it(
  "what is offered is what the real server then does: it starts, its slot is as said, and it takes the prompt",
  async () => {
    const random = new SeededRandom(2026);
    const seen = { setups: 0, offers: 0, refusedBefore: 0 };
    while (seen.setups < setups) {
      const model = random.pick(models);
      const argv = randomArguments(random);
      const prompt = await randomPrompt(random, `p${String(seen.setups)}`);
      const check = async (its: readonly string[], ...more: readonly string[]): Promise<Checked> =>
        (await cliJson([
          ...["check", prompt, "--raw", "--no-history", "--answer-reserve", "64", ...more],
          ...["--device", `Host=${String(2 ** 33)}`, "--", "-m", model, ...its],
        ])) as Checked;
      const now = await check(argv);
      if (now.prescriptions.length === 0) continue;
      seen.setups++;
      if (now.verdict.kind === "exceedsContext") {
        const { status } = await answered(model, argv, now.acceptance.promptTokens);
        expect(status, argv.join(" ")).toBe(400);
        seen.refusedBefore++;
      }
      for (const {
        options = {},
        flags = [],
        leaveOut,
        verdict,
        promptTokens,
        nCtxPerSlot,
      } of now.prescriptions) {
        seen.offers++;
        const changed = argumentsWithChange(argv, options);
        const what = `${path.basename(model)} ${argv.join(" ")} → ${flags.join(" ")}, ${String(promptTokens)} tokens`;
        const out = leaveOut?.files.flatMap(({ label }) => ["--exclude", path.basename(label)]) ?? [];
        const then = await check(changed, ...out);
        expect(then.verdict.kind, what).toBe(verdict.kind);
        const { status, nCtx } = await answered(model, changed, then.acceptance.promptTokens);
        expect([status, nCtx], what).toEqual([200, nCtxPerSlot]);
      }
    }
    expect(seen.offers).toBeGreaterThan(setups);
    console.log(JSON.stringify(seen));
  },
  setups * 120_000,
);

/** What a server with these arguments says to a prompt of so many tokens, and what its slot holds. */
async function answered(
  model: string,
  args: readonly string[],
  tokens: number,
): Promise<{ readonly status: number; readonly nCtx: unknown }> {
  const server = await startLlamaServer({ model, args: [...args, "--no-warmup"] });
  try {
    const prompt = Array.from({ length: tokens }, (_, i) => 1000 + (i % 97));
    const { status } = await postJson(`${server.url}/completion`, { prompt, n_predict: 1 });
    const props = (await (await fetch(`${server.url}/props`)).json()) as {
      readonly default_generation_settings: { readonly n_ctx: number };
    };
    return { status, nCtx: props.default_generation_settings.n_ctx };
  } finally {
    await server.stop();
  }
}

function randomArguments(random: SeededRandom): readonly string[] {
  const some = (share: number, ...words: readonly string[]): readonly string[] =>
    random.below(100) < share ? words : [];
  return [
    ...some(85, "-c", String(random.pick([256, 512, 1024, 2048, 4096]))),
    ...some(70, "-np", String(random.pick([1, 2, 3, 4]))),
    ...some(20, "-kvu"),
    ...some(20, "--kv-unified-per-slot", "300"),
    ...some(20, "-ctk", "q8_0", "-ctv", "q8_0"),
    ...some(20, "-ub", "128"),
    ...some(15, "-fit", "off"),
  ];
}

/** A folder with files of some hundred tokens. */
async function randomPrompt(random: SeededRandom, name: string): Promise<string> {
  const where = path.join(folder, name);
  await mkdir(where, { recursive: true });
  const files = 2 + random.below(8);
  for (let i = 0; i < files; i++) {
    const lines = Array.from(
      { length: 1 + random.below(40) },
      (_, n) => `line ${String(n)} of file ${String(i)}\n`,
    );
    await writeFile(path.join(where, `file${String(i)}.txt`), lines.join(""));
  }
  return where;
}
