import type { Text } from "../../text";

/** The first thing that is wrong in a plan's text. */
export interface PlanProblem {
  /** From 1. */
  readonly line: number;
  readonly field: string;
  readonly problem: Text;
  readonly remedy: Text;
}
