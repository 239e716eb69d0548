import type { Speed } from "../../app/speed";
import { variedOptions, type VariedOption } from "../../core/bench/comparisonArms";
import { answersUnchecked } from "../../core/bench/comparison";
import { comparisonPlanText, type ComparisonPlan } from "../../core/bench/comparisonPlan";
import { measurementProgressText } from "../../core/bench/probeReport";
import type { ComparisonChoice } from "../../core/bench/comparisonSetup";
import type { ComparisonResult } from "../../core/bench/comparison";
import { say, seconds, type Text } from "../../core/text";
import { cancellable } from "../editor/cancellable";
import { pickWhileSearching } from "../editor/quickPick";
import type { SpeedMeasurements } from "./speedMeasurements";
import { shownName, type Shown } from "../../core/shown";
import { pick, showingProgress, type PickItem } from "../editor/screen";
import { localized } from "../editor/vscodeText";

type Comparisons = Pick<Speed, "comparisonSetup" | "comparisonPrices" | "compare">;

const cacheTypes = ["f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "bf16"] as const;

const choices: Readonly<
  Record<VariedOption["option"], { readonly name: Text; readonly values: readonly string[] }>
> = {
  cacheTypeK: { name: say`KV cache type of K`, values: cacheTypes },
  cacheTypeV: { name: say`KV cache type of V`, values: cacheTypes },
  flashAttn: { name: say`Flash attention`, values: ["on", "off"] },
  ubatchSize: { name: say`Physical batch (ubatch)`, values: ["128", "256", "512", "1024", "2048", "4096"] },
  batchSize: { name: say`Logical batch`, values: ["512", "1024", "2048", "4096", "8192"] },
  threads: { name: say`Threads`, values: ["1", "2", "4", "6", "8", "12", "16", "24", "32"] },
};

/**
 * Compares two values of one option, baseline, other and baseline again, after saying what it will cost. Undefined where
 * the user thought better of it.
 */
export async function compareSettings(
  speed: Comparisons,
  measurements: SpeedMeasurements,
  argument: unknown,
): Promise<ComparisonResult | undefined> {
  const choice = asChoice(argument) ?? (await ask(speed));
  if (choice === undefined) return undefined;
  const result = await run(speed, measurements, choice);
  measurements.compared(result);
  return result;
}

async function ask(speed: Comparisons): Promise<ComparisonChoice | undefined> {
  const setup = await cancellable(say`Checking server, model and machine`, (signal) =>
    speed.comparisonSetup(signal),
  );
  const option = await pick(
    variedOptions.map((varied) => ({
      label: localized(choices[varied.option].name),
      description: shownName(varied.flag),
      detail: localized(say`now ${setup.values[varied.option]}`),
      varied,
    })),
    {
      title: localized(say`Compare settings of ${setup.model}`),
      placeHolder: localized(say`One option at a time: with two, no single cause could be named`),
    },
  );
  if (option === undefined) return undefined;
  const { varied } = option;
  const baseline = setup.values[varied.option];
  const chosen = await pick(
    choices[varied.option].values
      .filter((value) => value !== baseline)
      .map((value) => ({ label: shownName(value), value })),
    {
      title: localized(choices[varied.option].name),
      placeHolder: localized(say`To compare with ${baseline}`),
    },
  );
  if (chosen === undefined) return undefined;
  const { value: other } = chosen;
  const plan = await askForDepth(speed, shownName(`${varied.flag} ${baseline} / ${other}`));
  return plan && { varied, values: [baseline, other], depth: plan.depth };
}

interface PlanItem extends PickItem {
  readonly plan: ComparisonPlan;
}

/** The last question is the price: choosing a depth starts the comparison. */
async function askForDepth(speed: Comparisons, title: Shown): Promise<ComparisonPlan | undefined> {
  const picked = await pickWhileSearching<PlanItem>(
    {
      title,
      placeholder: localized(say`Depth to compare at, with its cost; choosing one starts the comparison`),
    },
    [],
    async (signal) =>
      (await speed.comparisonPrices(signal)).map((plan) => ({
        label: localized(say`≈ ${seconds(plan.seconds)}`),
        detail: localized(comparisonPlanText(plan)),
        plan,
      })),
  );
  return picked?.plan;
}

function run(
  speed: Comparisons,
  measurements: SpeedMeasurements,
  choice: ComparisonChoice,
): Promise<ComparisonResult> {
  const title = say`Comparing ${choice.varied.flag} ${choice.values.join(" / ")}`;
  return showingProgress(localized(title), (progress, cancelled) =>
    measurements.measure(title, cancelled, (report, signal) => {
      let done = 0;
      return speed.compare(
        choice,
        {
          plan: report.plan,
          progress: (step) => {
            report.progress(step);
            const increment = Math.max(0, step.share * 100 - done);
            done += increment;
            progress.report({ increment, message: localized(measurementProgressText(step)) });
          },
        },
        signal,
      );
    }),
  );
}

/** What was found, in the two sentences of the answer; speed whose answers nobody looked at is not praised alone. */
export function comparisonText({ prefill, generation }: ComparisonResult): Text {
  const both = say`${prefill.sentence} ${generation.sentence}`;
  const unchecked = [...prefill.notes, ...generation.notes].some(
    ({ text }) => text === answersUnchecked.text,
  );
  return unchecked ? say`${both} ${answersUnchecked}` : both;
}

function asChoice(argument: unknown): ComparisonChoice | undefined {
  if (typeof argument !== "object" || argument === null) return undefined;
  const { flag, values, depth } = argument as Readonly<Record<string, unknown>>;
  const varied = variedOptions.find((known) => known.flag === flag);
  if (varied === undefined || !Array.isArray(values) || typeof depth !== "number") return undefined;
  const [baseline, other] = values.map(String);
  return baseline === undefined || other === undefined
    ? undefined
    : { varied, values: [baseline, other], depth };
}
