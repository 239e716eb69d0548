import { largest, smallest } from "../lists";
import { median } from "../median";
import { count, percent, say, type Text } from "../text";

/** What one run of a comparison found: speed over the baseline's minus 1. */
export interface EarlierChange {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly change: number;
}

export interface ChangeAcrossDays {
  /** Mean of the days. */
  readonly change: number;
  /** Half-width of its 95 % interval. */
  readonly error: number;
  readonly notes: readonly Text[];
}

/**
 * What the same comparison differs by from day to day (standard deviation), and what that is worth in days. The article's
 * K of q8_0: -3.5 % and +2.0 % at 32K, +6.1 % and +10.6 % at 128K, each difference well above the noise of its runs.
 */
const dayDeviation = 0.02;
const priorDays = 3;
const dayMs = 86_400_000;

/** This run together with the earlier ones: one difference can be called one only if it is larger than days differ by. */
export function acrossDays(
  run: EarlierChange & { readonly error: number },
  earlier: readonly EarlierChange[],
): ChangeAcrossDays {
  const days = new Map<number, number[]>();
  for (const { at, change } of [...earlier, run]) {
    const day = Math.floor(at / dayMs);
    days.set(day, [...(days.get(day) ?? []), change]);
  }
  const changes = Array.from(days.values(), median);
  const change = changes.reduce((sum, one) => sum + one, 0) / changes.length;
  const squares = changes.reduce((sum, one) => sum + (one - change) ** 2, 0);
  const deviation = Math.sqrt((priorDays * dayDeviation ** 2 + squares) / (priorDays + changes.length - 1));
  const scale = Math.sqrt(changes.length);
  const error = largest([(2 * deviation) / scale, run.error / scale]);
  return { change, error, notes: notesOf(run, earlier, changes.length) };
}

function notesOf(
  run: EarlierChange & { readonly error: number },
  earlier: readonly EarlierChange[],
  days: number,
): readonly Text[] {
  if (earlier.length > 0) {
    const all = earlier.map(({ change }) => 100 * change);
    return [
      say`This run alone: ${percent(100 * run.change)}. ${count(earlier.length)} earlier run[s]: ${percent(smallest(all))} to ${percent(largest(all))}, on ${count(days)} day[s] in all.`,
    ];
  }
  const seen = Math.abs(run.change) > run.error && Math.abs(run.change) <= 2 * dayDeviation;
  return seen
    ? [
        say`This run alone: ${percent(100 * run.change)}, which is no more than other days differ by. Compare again on another day.`,
      ]
    : [];
}
