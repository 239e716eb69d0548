import type { Text } from "../../text";
import { parsePlan } from "./parsePlan";
import { PlanError } from "./planReader";

/** The first thing that is wrong in a plan's text. */
export interface PlanProblem {
  /** From 1. */
  readonly line: number;
  readonly field: string;
  readonly problem: Text;
  readonly remedy: Text;
}

/** Undefined for a plan that can be run. */
export function planProblem(text: string): PlanProblem | undefined {
  try {
    parsePlan(text);
    return undefined;
  } catch (cause) {
    if (!(cause instanceof PlanError)) throw cause;
    const { planLine: line, field, about: problem, remedy } = cause;
    return { line, field, problem, remedy };
  }
}
