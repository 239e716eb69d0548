import { speedFlags } from "../llamaBench/benchArguments";
import { chooseCurve } from "../history/curveChoice";
import type { HistoryRecord } from "../history/historyRecord";
import type { LaunchOptions } from "../launch/launchOptions";
import { predict } from "../prefill/predict";
import { predictionText } from "../prefill/predictionText";
import { count, say, seconds, type Text } from "../text";

/** How long the longest prompt of a section takes to read. */
export interface SectionWait {
  readonly line: Text;
  /** For a place with little room; absent where the curve does not reach so far. */
  readonly short?: Text;
}

export interface SectionSpeed {
  readonly records: readonly HistoryRecord[];
  /** Absolute path of the model's file, as it is in the key of a curve. */
  readonly modelPath: string;
  readonly options: LaunchOptions;
  readonly nCtxPerSlot: number;
  /** Tokens kept for the answer. */
  readonly answerReserve: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Undefined where no curve was measured on this file with exactly these options. The build that will run is not known. */
export function sectionWait(speed: SectionSpeed): SectionWait | undefined {
  const { records, modelPath, options, nCtxPerSlot, answerReserve, now } = speed;
  const wanted = { model: modelPath, build: "", flags: speedFlags(options), now };
  const chosen = chooseCurve(records, wanted);
  if (chosen === undefined) return undefined;
  const room = nCtxPerSlot - answerReserve;
  // llama-server refuses a prompt as long as the context
  const tokens = room > 0 ? room : nCtxPerSlot - 1;
  const prediction = predict(chosen.curve, { tokens });
  const line = say`Full prompt of ${count(tokens)} token[s]: ${predictionText(prediction, (now - chosen.origin.measuredAt) / 1000)}`;
  if (!prediction.known) return { line };
  const { seconds: middle, lowSeconds, highSeconds } = prediction;
  return {
    line,
    short: say`full prompt ≈ ${seconds(middle)} (${seconds(lowSeconds)} – ${seconds(highSeconds)})`,
  };
}
