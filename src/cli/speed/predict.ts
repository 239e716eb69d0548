import { readCurveFile } from "../../app/measurements";
import { namedCurve } from "../../core/history/namedCurve";
import { connected, findServer } from "../../app/runningServer";
import { setupKey } from "../../app/situation";
import { formatNumber, formatSeconds, formatText } from "../../core/format";
import type { CurveKey } from "../../core/prefill/depthCurve";
import { predict } from "../../core/prefill/predict";
import { generationText, oddityText } from "../../core/prefill/predictionText";
import type { Prediction } from "../../core/prefill/prediction";
import { tokensWithin, type TokensWithin } from "../../core/prefill/tokensWithin";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { launchedModelFile } from "../../node/gguf/launchedModel";
import { tokenCount, wholeNumber } from "../arguments";
import type { CliCommand, CliContext } from "../command";
import { givenLaunch, namedServer } from "../launch";
import { exitCode, printJson, printLines } from "../output";

interface PredictOptions {
  readonly curve: string;
  readonly tokens?: number;
  readonly within?: number;
  readonly cached: number;
  readonly server?: string;
  readonly anyCurve?: true;
  readonly json?: true;
}

export const addPredict: CliCommand = (program, context) => {
  program
    .command("predict")
    .description(
      "predicted seconds with an 80 % interval, or why no prediction is possible; llama-server's arguments, to compare the curve with, go after --",
    )
    .requiredOption("--curve <file>", "output of `probe --json` or of a benchmark, or a llama-server log")
    .option("--tokens <n>", "tokens of the prompt that are not cached", tokenCount)
    .option(
      "--within <seconds>",
      "instead of --tokens: how many tokens can be read in that time",
      wholeNumber,
    )
    .option("--cached <n>", "tokens that are already in the cache", tokenCount, 0)
    .option("--server <url>", "predict for this llama-server")
    .option("--any-curve", "predict also from a curve of another setup")
    .option("--json", "one JSON document on stdout")
    .action(async (options: PredictOptions) => {
      const { tokens, within, cached } = options;
      if ((tokens === undefined) === (within === undefined)) {
        throw new UserError(
          "invalidInput",
          say`predict needs either --tokens or --within.`,
          say`Say how many tokens are sent, or how long you would wait.`,
        );
      }
      const file = await readCurveFile(options.curve, context.signal);
      const found = namedCurve(file, await setupOf(options, context), {
        any: options.anyCurve === true,
        now: Date.now(),
      });
      const notes = found.notes.map((note) => formatText(note));
      const of = found.curve.known ? { of: found.curve.value.key } : {};
      const reason = found.curve.known ? undefined : say`${found.curve.why} ${found.curve.remedy}`;
      if (within !== undefined) {
        const room: TokensWithin = found.curve.known
          ? tokensWithin(found.curve.value, { seconds: within, cached })
          : { known: false, reason: reason ?? say`` };
        if (options.json) printJson({ ...room, setup: found.setup, notes, ...of });
        else printLines([withinLine(room, within), ...notes]);
        if (!room.known) context.finish(exitCode.noFigure);
        return;
      }
      const prediction: Prediction = found.curve.known
        ? predict(found.curve.value, { tokens: tokens ?? 0, cached })
        : { known: false, reason: reason ?? say`` };
      const oddity = oddityText(prediction);
      if (oddity !== undefined) notes.push(formatText(oddity));
      if (options.json) {
        printJson({
          ...prediction,
          setup: found.setup,
          notes,
          ...of,
        });
      } else printLines([...predictionLines(prediction), ...notes]);
      if (!prediction.known) context.finish(exitCode.noFigure);
    });
};

/** The setup to predict for; undefined where none was named. */
async function setupOf({ server }: PredictOptions, context: CliContext): Promise<CurveKey | undefined> {
  if (server === undefined && context.serverArguments.length === 0) return undefined;
  const given = await givenLaunch(context);
  if (server === undefined) {
    const file = await launchedModelFile(given, context.signal);
    return setupKey({ facts: undefined, launch: given, file });
  }
  const found = await findServer(
    { server: namedServer(server), launch: given, programs: {} },
    context.signal,
  );
  return setupKey({ facts: connected(found.server).facts, launch: found.launch });
}

function predictionLines(prediction: Prediction): readonly string[] {
  if (!prediction.known) return [formatText(prediction.reason)];
  const { seconds, lowSeconds, highSeconds, basis } = prediction;
  const generation = generationText(prediction);
  return [
    `≈ ${formatSeconds(seconds)} (80 % between ${formatSeconds(lowSeconds)} and ${formatSeconds(highSeconds)}), measured to ${formatNumber(basis.deepestDepth)} tokens`,
    ...(generation === undefined ? [] : [`then ${formatText(generation)}`]),
  ];
}

function withinLine(room: TokensWithin, seconds: number): string {
  if (!room.known) return formatText(room.reason);
  const { tokens, lowTokens, highTokens, atLeast } = room;
  const most = `${formatNumber(tokens)} tokens (80 % between ${formatNumber(lowTokens)} and ${formatNumber(highTokens)})`;
  return `within ${formatSeconds(seconds)}: ${atLeast ? `at least ${formatNumber(tokens)} tokens; the curve ends there` : most}`;
}
