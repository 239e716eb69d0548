import { count, percent, say } from "../text";
import type { Text } from "../text";
import { acrossDays, type EarlierChange } from "./acrossDays";
import { invalidChange, stableChange } from "./drift";
import type { SpeedKind } from "./drift";

/** One setting measured once, in the order of the run. */
export interface ComparisonArm {
  /** What was set, option by option. */
  readonly settings: Readonly<Record<string, string>>;
  /** Seconds per token at each depth, one entry per repetition. */
  readonly costs: readonly { readonly depth: number; readonly secondsPerToken: readonly number[] }[];
}

/** How well the first tokens of greedy answers agree, so that a broken kernel is not praised for its speed. */
export interface AgreementSample {
  readonly agreed: number;
  readonly of: number;
}

export interface ComparisonQuestion {
  readonly kind: SpeedKind;
  /** Arms as they ran, baseline first; a second run of the baseline at the end makes a sandwich. */
  readonly arms: readonly ComparisonArm[];
  readonly depth: number;
  /** Smallest difference that matters, declared before the run. */
  readonly threshold?: number;
  readonly agreement?: AgreementSample;
  /** The other setting may change the answers, and nobody could look whether it does. */
  readonly unchecked?: boolean;
  /** Why the machine was not fit to measure on, where the watch says so. */
  readonly disturbed?: Text;
  /** When the other arm ran between the two baselines, 0 to 1; by default as the arms stand. */
  readonly position?: number;
  /** What earlier runs of the same comparison found. */
  readonly earlier?: readonly EarlierChange[];
  /** Milliseconds since the epoch, for what is earlier. */
  readonly at?: number;
}

export type ComparisonAnswer =
  /** Time of the other setting over the baseline's, e.g. 0.94: 6 % less time. `low` and `high` are percent of speed. */
  | {
      readonly kind: "faster" | "slower";
      readonly lowPercent: number;
      readonly highPercent: number;
      /** Speed over the baseline's minus 1 in this run alone, drift taken out. */
      readonly change?: number;
      readonly sentence: Text;
      readonly notes: readonly Text[];
    }
  | {
      readonly kind: "noDifference";
      readonly withinPercent: number;
      readonly change?: number;
      readonly sentence: Text;
      readonly notes: readonly Text[];
    }
  | { readonly kind: "cannotJudge"; readonly sentence: Text; readonly notes: readonly Text[] };

/** Differences below this are of no use to anybody. */
export const defaultThreshold = 0.01;
/** Options that do nothing while the cache is empty: there, depth 0 shows how the machine itself drifted. */
const withoutEffectAtDepth0 = new Set(["cacheTypeK", "cacheTypeV"]);
const leastAgreement = 0.5;
/** A note of answers whose other setting may be fast only because it is broken. */
export const answersUnchecked = say`Whether the answers stay the same was not checked.`;

/** Compares a baseline with another setting at one depth: faster by x–y %, no difference, or not to be judged here. */
export function compare(question: ComparisonQuestion): ComparisonAnswer {
  const { arms, depth, kind } = question;
  const [baseline] = arms;
  const other = arms.find((arm) => changed(baseline, arm).length > 0);
  if (baseline === undefined || other === undefined) return cannot(say`Two different settings are needed.`);
  if (question.disturbed !== undefined) return cannot(question.disturbed);
  const { agreement } = question;
  if (agreement !== undefined && agreement.agreed < leastAgreement * agreement.of) {
    return cannot(
      say`The other setting gives different answers: only ${count(agreement.agreed)} of ${count(agreement.of)} token[s] agree. Its speed does not matter.`,
    );
  }
  const odd = [baseline, other].some((arm) => slowerAtDepth0(arm, depth));
  const closed = arms.indexOf(other) < arms.findLastIndex((arm) => changed(baseline, arm).length === 0);
  if (odd && !closed) {
    return cannot(
      say`At depth 0 it was slower than at depth ${count(depth)}, which no cache makes it: a warm-up or another program. Repeat on a quiet machine.`,
    );
  }
  const options = changed(baseline, other);
  const first = costAt(baseline, depth);
  const second = costAt(other, depth);
  if (first === undefined || second === undefined)
    return cannot(say`The depth was not measured with both settings.`);
  const corrected = withDrift(question, { baseline, other, first, second });
  if (corrected === undefined) {
    return cannot(
      say`The baseline itself changed by more than ${percent(invalidChange * 100)} between its two runs. Repeat on a quiet machine.`,
    );
  }
  const { ratio, driftError, notes } = corrected;
  const ownError = Math.hypot(driftError, noiseOf(arms, other, depth));
  const change = 1 / ratio - 1;
  const days = acrossDays({ at: question.at ?? 0, change, error: ownError }, question.earlier ?? []);
  const { error, change: speedUp } = days;
  const threshold = Math.max(question.threshold ?? defaultThreshold, error);
  const cause =
    options.length > 1
      ? [
          say`${count(options.length)} option[s] changed at once (${options.join(", ")}); no single one can be named as the cause.`,
        ]
      : [];
  const answers =
    question.unchecked === true
      ? [answersUnchecked]
      : agreement === undefined
        ? []
        : [
            say`${count(agreement.agreed)} of ${count(agreement.of)} token[s] of greedy answers are the same.`,
          ];
  const all = [...cause, ...notes, ...days.notes, ...answers];
  if (Math.abs(speedUp) <= threshold) {
    const withinPercent = 100 * Math.max(threshold, Math.abs(speedUp) + error);
    return {
      kind: "noDifference",
      withinPercent,
      change,
      sentence: say`No difference beyond noise (within ${percent(withinPercent)}).`,
      notes: all,
    };
  }
  const ends = [Math.abs(speedUp) - error, Math.abs(speedUp) + error].map((end) => 100 * Math.max(0, end));
  const [lowPercent = 0, highPercent = 0] = ends;
  const faster = speedUp > 0;
  return {
    kind: faster ? "faster" : "slower",
    lowPercent,
    highPercent,
    change,
    sentence: faster
      ? say`Faster by ${percent(lowPercent)} to ${percent(highPercent)} (${kindName(kind)} at depth ${count(depth)}).`
      : say`Slower by ${percent(lowPercent)} to ${percent(highPercent)} (${kindName(kind)} at depth ${count(depth)}).`,
    notes: all,
  };
}

function kindName(kind: SpeedKind): Text {
  return kind === "prefill" ? say`prefill` : say`generation`;
}

function cannot(why: Text): ComparisonAnswer {
  return { kind: "cannotJudge", sentence: say`Cannot be determined right now: ${why}`, notes: [] };
}

function changed(one: ComparisonArm | undefined, other: ComparisonArm): readonly string[] {
  const names = new Set([...Object.keys(one?.settings ?? {}), ...Object.keys(other.settings)]);
  return [...names].filter((name) => one?.settings[name] !== other.settings[name]).sort();
}

/** Mean seconds per token: the repeats that llama-bench averages. */
function costAt(arm: ComparisonArm, depth: number): number | undefined {
  const costs = arm.costs.find((c) => c.depth === depth)?.secondsPerToken ?? [];
  return costs.length === 0 ? undefined : costs.reduce((s, c) => s + c, 0) / costs.length;
}

/** A fuller cache only ever costs more. */
function slowerAtDepth0(arm: ComparisonArm, depth: number): boolean {
  const [empty, full] = [costAt(arm, 0), costAt(arm, depth)];
  return depth > 0 && empty !== undefined && full !== undefined && empty > (1 + invalidChange) * full;
}

/** What repeats of one arm differ by at least, and what is assumed where nothing was repeated. */
const leastSpread = 0.0034;
const unseenSpread = 0.005;
/** Two-sided 95 % quantiles of Student's t by degrees of freedom, from 1; two of more. */
const students = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];

/**
 * Half-width of the 95 % interval of the ratio of two means, relative. The spread is that of all arms together: two
 * repeats of one arm say next to nothing. Repeats inside one run are only the floor of what is uncertain.
 */
function noiseOf(arms: readonly ComparisonArm[], other: ComparisonArm, depth: number): number {
  const costsOf = (arm: ComparisonArm): readonly number[] =>
    arm.costs.find((c) => c.depth === depth)?.secondsPerToken ?? [];
  const all = arms.map(costsOf).filter((costs) => costs.length > 0);
  const squares = all.flatMap((costs) => {
    const mean = costs.reduce((s, c) => s + c, 0) / costs.length;
    return costs.map((c) => (c / mean - 1) ** 2);
  });
  const freedom = squares.length - all.length;
  const seen = Math.sqrt(squares.reduce((s, c) => s + c, 0) / Math.max(1, freedom));
  const others = costsOf(other).length;
  const evens = Math.sqrt(1 / others + 1 / Math.max(1, squares.length - others));
  const least = 2 * (freedom === 0 ? unseenSpread : leastSpread);
  return Math.max(least, (students[freedom - 1] ?? 2) * seen) * evens;
}

interface Arms {
  readonly baseline: ComparisonArm;
  readonly other: ComparisonArm;
  readonly first: number;
  readonly second: number;
}

interface Corrected {
  /** Seconds of the other setting over the baseline's. */
  readonly ratio: number;
  readonly driftError: number;
  readonly notes: readonly Text[];
}

/**
 * Takes the machine's own drift out: between two baseline runs by their mean in time; without a second run, and where
 * depth 0 cannot feel the setting, by each arm's own depth-0 cost. Undefined where the drift is too large to correct.
 */
function withDrift(
  { kind, arms, depth, position = 0.5 }: ComparisonQuestion,
  { baseline, other, first, second }: Arms,
): Corrected | undefined {
  const again = arms.findLast((arm) => arm !== baseline && changed(baseline, arm).length === 0);
  const last = again === undefined ? undefined : costAt(again, depth);
  const usesDepth0 =
    depth > 0 &&
    changed(baseline, other).every((option) => withoutEffectAtDepth0.has(option)) &&
    ![baseline, other].some((arm) => slowerAtDepth0(arm, depth));
  if (again !== undefined && last !== undefined) {
    const change = Math.abs(last / first - 1);
    if (change <= invalidChange) {
      const expected = first * (last / first) ** position;
      return {
        ratio: second / expected,
        driftError: change / 2,
        notes:
          change > stableChange[kind]
            ? [
                say`The baseline changed by ${percent(100 * change)} between its two runs; this is corrected for.`,
              ]
            : [],
      };
    }
    if (!usesDepth0) return undefined;
  }
  const firstAt0 = costAt(baseline, 0);
  const secondAt0 = costAt(other, 0);
  if (!usesDepth0 || firstAt0 === undefined || secondAt0 === undefined) {
    return {
      ratio: second / first,
      driftError: invalidChange,
      notes: [say`The baseline ran only once, so a drift of the machine in the meantime is unknown.`],
    };
  }
  const change = Math.abs(secondAt0 / firstAt0 - 1);
  if (change <= stableChange[kind]) return { ratio: second / first, driftError: change, notes: [] };
  return {
    ratio: second / secondAt0 / (first / firstAt0),
    driftError: change / 2,
    notes: [
      say`The machine drifted by ${percent(100 * change)} at depth 0, where this option has no effect; every arm is divided by its own depth-0 speed.`,
    ],
  };
}

/** Two values of one option side by side, and what was found. */
export interface ComparisonResult {
  readonly option: string;
  readonly values: readonly [baseline: string, other: string];
  readonly depth: number;
  /** Smallest difference that was to count, declared before the run, as a part of 1. */
  readonly threshold: number;
  readonly prefill: ComparisonAnswer;
  readonly generation: ComparisonAnswer;
  readonly agreement?: AgreementSample;
}

/**
 * How far two series of greedy answers to the same prompts agree. Every answer counts up to its first difference: behind
 * it the two models read different texts.
 */
export function agreementOf(
  baseline: readonly (readonly number[])[],
  other: readonly (readonly number[])[],
): AgreementSample {
  let agreed = 0;
  let of = 0;
  baseline.forEach((answer, i) => {
    const second = other[i] ?? [];
    const different = answer.findIndex((token, k) => token !== second[k]);
    agreed += different < 0 ? answer.length : different;
    of += different < 0 ? answer.length : different + 1;
  });
  return { agreed, of };
}
