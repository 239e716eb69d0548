import { largest } from "../lists";

/** What other programs took from a measurement: shares of the machine (0 to 1); undefined where nobody says how much. */
export type TakenShares = readonly (number | undefined)[];

/** Fitted: of 14 pairs of disturbed probes of one setup (79 to 91 % taken), 11 then lie in the 80 % band, and 8 at 0.25. */
const perShare = 0.4;
/** Another llama.cpp program, or swapping, seldom takes less. */
const unsaidShare = 0.25;
/** Nothing that is worth an event does less. */
const least = 0.06;

/**
 * Standard deviation of ln(time) of what was measured while others took so much of the machine: how much of it they took
 * from the measurement, and will take from the next prompt, nobody knows. Evidence: docs/evidence/prediction.md.
 */
export const disturbedSpread = (taken: TakenShares): number =>
  perShare *
  largest(
    taken.map((share) => share ?? unsaidShare),
    least / perShare,
  );
