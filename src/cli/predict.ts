import { formatNumber, formatSeconds, formatText } from "../core/format";
import { parseDepthCurve, type DepthCurve } from "../core/prefill/depthCurve";
import { predict } from "../core/prefill/predict";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { wholeNumber } from "./arguments";
import type { CliCommand } from "./command";
import { printJson, printLines } from "./output";
import { textOf } from "./textFile";

export const addPredict: CliCommand = (program) => {
  program
    .command("predict")
    .description("predicted seconds with an 80 % interval, or why no prediction is possible")
    .requiredOption("--curve <file>", "output of `probe --json`")
    .requiredOption("--tokens <n>", "tokens of the prompt that are not cached", wholeNumber)
    .option("--cached <n>", "tokens that are already in the cache", wholeNumber, 0)
    .option("--json", "one JSON document on stdout")
    .action(async (options: { curve: string; tokens: number; cached: number; json?: true }) => {
      const curve = await readCurve(options.curve);
      const prediction = predict(curve, { tokens: options.tokens, cached: options.cached });
      if (options.json) printJson(prediction);
      else if (!prediction.known) printLines([formatText(prediction.reason)]);
      else {
        const { seconds, lowSeconds, highSeconds, basis, generationTokensPerSecond } = prediction;
        printLines([
          `≈ ${formatSeconds(seconds)} (80 % between ${formatSeconds(lowSeconds)} and ${formatSeconds(highSeconds)}), measured to ${formatNumber(basis.deepestDepth)} tokens`,
          ...(generationTokensPerSecond === undefined
            ? []
            : [`then ${formatNumber(generationTokensPerSecond, "en", 1)} tokens per second`]),
        ]);
      }
    });
};

/** The curve in a file: `CURVE.json`, or the output of `probe` that holds one. */
export async function readCurve(file: string): Promise<DepthCurve> {
  const document = await readJson(file);
  const inner =
    typeof document === "object" && document !== null && "curve" in document ? document.curve : document;
  return parseDepthCurve(inner);
}

async function readJson(file: string): Promise<unknown> {
  const text = await textOf(file);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new UserError(
      "invalidInput",
      say`${file} is not JSON.`,
      say`Specify the output of \`llama-gauge probe --json\`.`,
      {
        cause,
      },
    );
  }
}
