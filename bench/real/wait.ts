import { remainingPrefill } from "../../src/core/prefill/liveEta";
import { naiveSeconds } from "../../src/core/prefill/depthCurve";
import { predict } from "../../src/core/prefill/predict";
import { runServerProbe } from "../../src/app/measuring/serverProbe";
import type { RealModelName } from "../../test/support/realModels";
import { modelNames, quantile, read, realSetup, realTokens, signal, startReal, table } from "./support";

interface Trial {
  readonly model: RealModelName;
  readonly tokens: number;
  readonly factor: number;
  readonly predicted: number;
  readonly low: number;
  readonly high: number;
  readonly actual: number;
  readonly naive: number;
  /** Error of the remaining seconds after 10, 25 and 50 % of the prompt, in percent; absent where too little was read. */
  readonly eta: readonly (number | undefined)[];
}

const factors = [1, 2, 4, 8];
const shares = [0.1, 0.25, 0.5];

/** Every process is probed once, for at most a minute, and then reads prompts of one to eight times the probed depth. */
export async function wait(processes: number, probed: number): Promise<void> {
  const trials: Trial[] = [];
  for (let process = 1; process <= processes; process++) {
    for (const model of ["chat", "window"] as const) {
      const found = await oneProcess(model, process, probed);
      trials.push(...found);
      console.error(`${modelNames[model]}, process ${process}: ${found.map(brief).join(", ")}`);
    }
  }
  console.log(
    `\n## Wait: ${trials.length} prompts in ${2 * processes} processes, probed to ${probed} tokens\n`,
  );
  const groups = (["chat", "window"] as const).flatMap((model) =>
    factors.map((factor) => trials.filter((t) => t.model === model && t.factor === factor)),
  );
  const head = [
    "Model",
    "Tokens",
    "n",
    "Median error %",
    "Worst %",
    "In the 80 % interval",
    "Half-width",
    "Naive %",
  ];
  console.log(table([...head], [...groups.map(row), ["all", "", ...row(trials).slice(2)]]));
  console.log("\n## Remaining time of the same prompts while they were read\n");
  const etas = shares.map((share, i) => {
    const errors = trials.flatMap(({ eta }) => eta[i] ?? []).map(Math.abs);
    return [`${100 * share} %`, `${errors.length}`, ...[0.5, 0.9].map((q) => quantile(errors, q).toFixed(1))];
  });
  console.log(table(["Prompt read", "n", "Median error %", "p90 %"], etas));
}

async function oneProcess(model: RealModelName, process: number, probed: number): Promise<readonly Trial[]> {
  const setup = await realSetup(model);
  // SmolLM2 was trained on no more
  const server = await startReal(setup, 8192);
  try {
    const { curve } = await runServerProbe({ url: server.url, budgetSeconds: 60, maxDepth: probed }, signal);
    const trials: Trial[] = [];
    for (const factor of factors) {
      const tokens = Math.min(factor * probed, 8192 - 8);
      const prediction = predict(curve, { tokens });
      if (!prediction.known) throw new Error("no prediction");
      const prompt = await realTokens(server, tokens, `process ${process}, ${factor}.`);
      const { progress, timings } = await read(server, prompt);
      const actual = timings?.promptSeconds ?? Number.NaN;
      const eta = shares.map((share) => {
        const seen = progress.filter(({ processed }) => processed > 0 && processed <= share * tokens);
        const now = seen.at(-1);
        if (now === undefined) return undefined;
        const rest = remainingPrefill({ total: tokens, cached: 0, progress: seen }, curve);
        return rest.known ? 100 * (rest.seconds / (actual - now.seconds) - 1) : undefined;
      });
      const { seconds: predicted, lowSeconds: low, highSeconds: high } = prediction;
      trials.push({
        model,
        tokens,
        factor,
        predicted,
        low,
        high,
        actual,
        naive: naiveSeconds(curve, tokens),
        eta,
      });
    }
    return trials;
  } finally {
    await server.stop();
  }
}

const brief = ({ tokens, predicted, low, high, actual }: Trial): string =>
  `${tokens}: ${predicted.toFixed(1)} s (${low.toFixed(1)}–${high.toFixed(1)}), really ${actual.toFixed(1)} s`;

const errorOf = ({ predicted, actual }: Trial): number => 100 * (predicted / actual - 1);

function row(trials: readonly Trial[]): string[] {
  const [first] = trials;
  const errors = trials.map((t) => Math.abs(errorOf(t)));
  const inside = trials.filter(({ actual, low, high }) => actual >= low && actual <= high).length;
  const width = quantile(
    trials.map(({ low, high }) => 50 * Math.log(high / low)),
    0.5,
  );
  const naive = quantile(
    trials.map(({ naive, actual }) => 100 * (naive / actual - 1)),
    0.5,
  );
  return [
    first === undefined ? "" : modelNames[first.model],
    first === undefined ? "" : `${first.tokens} (${first.factor}x)`,
    ...[`${trials.length}`, quantile(errors, 0.5).toFixed(1), quantile(errors, 1).toFixed(1)],
    ...[`${inside} of ${trials.length}`, `± ${width.toFixed(1)} %`, naive.toFixed(0)],
  ];
}
