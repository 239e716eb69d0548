import type { ComparisonFound } from "../../app/measuring/compareSettings";
import type { Speed } from "../../app/speed";
import { variedOptions, type VariedOption } from "../../core/bench/comparisonArms";
import { answersUnchecked } from "../../core/bench/comparison";
import { comparisonPlanText } from "../../core/bench/comparisonPlan";
import { measurementProgressText } from "../../core/bench/probeReport";
import {
  comparisonChoice,
  optionsOf,
  settingsText,
  type ComparedSettings,
  type ComparisonChoice,
  type ComparisonSetup,
} from "../../core/bench/comparisonSetup";
import type { ComparisonConclusion } from "../../core/bench/payingDepth";
import type { ShownComparison } from "../../core/report/speedState";
import { say, seconds, type Text } from "../../core/text";
import { cancellable } from "../editor/cancellable";
import type { SpeedMeasurements } from "./speedMeasurements";
import { shownName } from "../../core/shown";
import { pick, pickSeveral, showingProgress } from "../editor/screen";
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

/** What can be varied: one option, or both KV types, together or each apart. */
type Question = VariedOption["option"] | "cacheTypes" | "cacheTypesApart";

const questions: readonly { readonly question: Question; readonly name: Text; readonly flags: string }[] = [
  { question: "cacheTypeK", name: choices.cacheTypeK.name, flags: "-ctk" },
  { question: "cacheTypeV", name: choices.cacheTypeV.name, flags: "-ctv" },
  { question: "cacheTypes", name: say`KV cache types of K and V together`, flags: "-ctk -ctv" },
  { question: "cacheTypesApart", name: say`K alone, V alone, and both`, flags: "-ctk / -ctv / -ctk -ctv" },
  ...variedOptions
    .filter(({ option }) => option !== "cacheTypeK" && option !== "cacheTypeV")
    .map(({ option, flag }) => ({ question: option, name: choices[option].name, flags: flag })),
];

/**
 * Compares settings, baseline, others and baseline again, at one or more depths, after saying what it will cost. Undefined
 * where the user thought better of it.
 */
export async function compareSettings(
  speed: Comparisons,
  measurements: SpeedMeasurements,
  argument: unknown,
): Promise<ComparisonFound | undefined> {
  const choice = asChoice(argument) ?? (await ask(speed));
  if (choice === undefined) return undefined;
  const found = await run(speed, measurements, choice);
  measurements.compared(found);
  return found;
}

async function ask(speed: Comparisons): Promise<ComparisonChoice | undefined> {
  const setup = await cancellable(say`Checking server, model and machine`, (signal) =>
    speed.comparisonSetup(signal),
  );
  const asked = await pick(
    questions.map((each) => ({
      label: localized(each.name),
      description: shownName(each.flags),
      detail: localized(say`now ${valueNow(setup, each.question)}`),
      ...each,
    })),
    {
      title: localized(say`Compare settings of ${setup.model}`),
      placeHolder: localized(say`One option at a time: with two, no single cause could be named`),
    },
  );
  if (asked === undefined) return undefined;
  const now = valueNow(setup, asked.question);
  const chosen = await pick(
    valuesOf(asked.question)
      .filter((value) => value !== now)
      .map((value) => ({ label: shownName(value), value })),
    { title: localized(asked.name), placeHolder: localized(say`To compare with ${now}`) },
  );
  if (chosen === undefined) return undefined;
  const others = othersOf(setup, asked.question, chosen.value);
  const depths = await askForDepths(speed, others);
  return depths && comparisonChoice(setup, others, depths);
}

const isOfBoth = (question: Question): question is "cacheTypes" | "cacheTypesApart" =>
  question === "cacheTypes" || question === "cacheTypesApart";

function valueNow({ values }: ComparisonSetup, question: Question): string {
  if (!isOfBoth(question)) return values[question];
  const { cacheTypeK, cacheTypeV } = values;
  return cacheTypeK === cacheTypeV ? cacheTypeK : `${cacheTypeK} / ${cacheTypeV}`;
}

const valuesOf = (question: Question): readonly string[] =>
  isOfBoth(question) ? cacheTypes : choices[question].values;

function othersOf(
  { values }: ComparisonSetup,
  question: Question,
  value: string,
): readonly ComparedSettings[] {
  if (!isOfBoth(question)) return [{ [question]: value }];
  // where one of the two has that value already, only the other one changes
  const [k, v] = [{ cacheTypeK: value }, { cacheTypeV: value }];
  if (values.cacheTypeK === value) return [v];
  if (values.cacheTypeV === value) return [k];
  return question === "cacheTypes" ? [{ ...k, ...v }] : [k, v, { ...k, ...v }];
}

/** The last question is the price: choosing depths starts the comparison. */
async function askForDepths(
  speed: Comparisons,
  others: readonly ComparedSettings[],
): Promise<readonly number[] | undefined> {
  const plans = await cancellable(say`Estimating what a comparison costs`, (signal) =>
    speed.comparisonPrices(others.length, signal),
  );
  const picked = await pickSeveral(
    plans.map((plan, i) => ({
      label: localized(say`≈ ${seconds(plan.seconds)}`),
      detail: localized(comparisonPlanText(plan)),
      picked: i === 0,
      plan,
    })),
    {
      title: shownName(others.map(settingsText).join(" / ")),
      placeHolder: localized(
        say`Depths to compare at, each with its cost; several show from which depth it pays`,
      ),
    },
  );
  return picked === undefined || picked.length === 0 ? undefined : picked.flatMap(({ plan }) => plan.depths);
}

function run(
  speed: Comparisons,
  measurements: SpeedMeasurements,
  choice: ComparisonChoice,
): Promise<ComparisonFound> {
  const title = say`Comparing ${settingsText(choice.baseline)} with ${choice.others.map(settingsText).join(" / ")}`;
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

/** What was found, in a sentence or two; speed whose answers nobody looked at is not praised alone. */
export function comparisonText({ results, conclusions }: ShownComparison): Text {
  const [deepest] = results.toSorted((p, q) => q.depth - p.depth);
  if (deepest === undefined) return say``;
  const { prefill, generation } = deepest;
  const told =
    results.length === 1 ? [] : conclusions.flatMap((each) => underName(each, conclusions.length > 1));
  const [first, ...rest] = told;
  const found =
    first === undefined
      ? say`${prefill.sentence} ${generation.sentence}`
      : rest.reduce((all, one) => say`${all} ${one}`, first);
  const unchecked = results
    .flatMap((result) => [...result.prefill.notes, ...result.generation.notes])
    .some(({ text }) => text === answersUnchecked.text);
  return unchecked ? say`${found} ${answersUnchecked}` : found;
}

/** The sentences of one of the others, under its name where there are several. */
function underName({ option, values, sentences }: ComparisonConclusion, named: boolean): readonly Text[] {
  return named ? sentences.map((sentence) => say`${option} ${values[1]}: ${sentence}`) : sentences;
}

/** `{flag, values, depth}` as one option's two values; `{baseline, others, depths}` by the names of the options. */
function asChoice(argument: unknown): ComparisonChoice | undefined {
  if (typeof argument !== "object" || argument === null) return undefined;
  const { flag, values, depth, baseline, others, depths } = argument as Readonly<Record<string, unknown>>;
  const given: readonly unknown[] = Array.isArray(depths) ? depths : [depth];
  const numbers = given.filter((each) => typeof each === "number");
  if (numbers.length === 0) return undefined;
  if (Array.isArray(others)) {
    const compared = others.map(asSettings);
    const from = asSettings(baseline);
    const whole = compared.every((other) =>
      optionsOf(other).every(({ option }) => from[option] !== undefined),
    );
    return whole && compared.length > 0 ? { baseline: from, others: compared, depths: numbers } : undefined;
  }
  const varied = variedOptions.find((known) => known.flag === flag);
  const [first, second] = Array.isArray(values) ? values.map(String) : [];
  if (varied === undefined || first === undefined || second === undefined) return undefined;
  const { option } = varied;
  return { baseline: { [option]: first }, others: [{ [option]: second }], depths: numbers };
}

function asSettings(value: unknown): ComparedSettings {
  const named =
    typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  return Object.fromEntries(
    variedOptions.flatMap(({ option }) => {
      const its = named[option];
      return typeof its === "string" ? [[option, its]] : [];
    }),
  );
}
