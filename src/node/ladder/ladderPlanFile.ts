import { parsePlan } from "../../core/ladder/plan/parsePlan";
import type { LadderPlan } from "../../core/ladder/plan/plan";
import { bytes, say } from "../../core/text";
import { UserError } from "../../core/userError";
import { textOfRegular, UnreadableError } from "../reading/regularFile";

const maxBytes = 2 ** 18;

/** Reads `*.ladder.yaml`. Fails with `UserError` that names line, field and remedy. */
export async function readPlanFile(file: string, signal: AbortSignal): Promise<LadderPlan> {
  let text: string;
  try {
    text = await textOfRegular(file, { most: maxBytes, pipes: true, signal });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UnreadableError && cause.code === "TOO_LARGE") {
      throw new UserError(
        "tooLarge",
        say`The plan ${file} is larger than ${bytes(maxBytes)}.`,
        say`Specify a ladder plan.`,
      );
    }
    throw new UserError("notFound", say`The plan ${file} cannot be read.`, say`Specify an existing file.`, {
      cause,
    });
  }
  return parsePlan(text);
}
