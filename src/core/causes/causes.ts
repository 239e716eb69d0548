import { contextCauses } from "./contextCauses";
import { kernelCauses } from "./kernelCauses";
import { ladderCauses } from "./ladderCauses";
import { memoryCauses } from "./memoryCauses";
import { startCauses } from "./startCauses";

/**
 * Why a server does not start, a request fails or a long prompt is answered badly: what is said about it and what is
 * recommended, the same wherever it is found: in a log, by the questions of the diagnosis, or after a ladder.
 */
export const causes = {
  ...startCauses,
  ...memoryCauses,
  ...contextCauses,
  ...kernelCauses,
  ...ladderCauses,
} as const;

export type CauseName = keyof typeof causes;
