import type { RungResult } from "../../core/ladder/score/results";
import { largest } from "../../core/lists";

/** A bar of recall in one tenth of the prompt. */
export interface PositionBar {
  readonly x: number;
  readonly width: number;
  /** 0 to 1; undefined where nothing was asked there. */
  readonly share: number | undefined;
}

export interface LadderColumns {
  /** Whether figures stand beside the bars, not below them. */
  readonly wide: boolean;
  readonly positions: { readonly x: number; readonly width: number };
  readonly recall: { readonly x: number; readonly width: number };
  readonly read: { readonly x: number; readonly width: number };
  readonly write: { readonly x: number; readonly width: number };
  readonly free: { readonly x: number; readonly width: number };
  readonly machine: { readonly x: number; readonly width: number };
}

const labelWidth = 84;
const gap = 18;
const wideFrom = 820;
const parts = 10;

/** Columns of the picture; figures without room of their own go below. */
export function ladderColumns(width: number): LadderColumns {
  const wide = width >= wideFrom;
  const shares = wide ? [26, 20, 15, 13, 15, 11] : [58, 42, 0, 0, 0, 0];
  const used = shares.filter((share) => share > 0).length;
  const room = Math.max(60, width - labelWidth - used * gap);
  let x = labelWidth;
  const [positions, recall, read, write, free, machine] = shares.map((share) => {
    const column = { x, width: (room * share) / 100 };
    x += column.width + (share > 0 ? gap : 0);
    return column;
  });
  const none = { x: width, width: 0 };
  return {
    wide,
    positions: positions ?? none,
    recall: recall ?? none,
    read: read ?? none,
    write: write ?? none,
    free: free ?? none,
    machine: machine ?? none,
  };
}

/** Recall from the start of the prompt to its end: a dip shows where it forgets. */
export function positionBars({ byPosition }: RungResult, width: number): readonly PositionBar[] {
  const step = width / parts;
  return Array.from({ length: parts }, (_, i) => {
    const here = byPosition.find(({ depth }) => Math.floor(depth * parts) === i);
    return {
      x: i * step + 1,
      width: Math.max(1, step - 2),
      share: here === undefined || here.of === 0 ? undefined : here.correct / here.of,
    };
  });
}

/** Part of the column that a value takes, the most of all taking the whole. */
export function shareOfLargest(value: number | undefined, all: readonly (number | undefined)[]): number {
  const most = largest(
    all.map((one) => one ?? 0),
    0,
  );
  return value === undefined || most === 0 ? 0 : value / most;
}
