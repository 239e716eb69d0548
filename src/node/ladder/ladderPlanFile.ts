import { readFile, stat } from "node:fs/promises";
import { parsePlan } from "../../core/ladder/plan/parsePlan";
import type { LadderPlan } from "../../core/ladder/plan/plan";
import { bytes, say } from "../../core/text";
import { UserError } from "../../core/userError";

const maxBytes = 2 ** 18;

/** Reads `*.ladder.yaml`. Fails with `UserError` that names line, field and remedy. */
export async function readPlanFile(file: string, signal: AbortSignal): Promise<LadderPlan> {
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > maxBytes) {
      throw new UserError(
        "tooLarge",
        say`The plan ${file} is larger than ${bytes(maxBytes)}.`,
        say`Specify a ladder plan.`,
      );
    }
    text = await readFile(file, { encoding: "utf8", signal });
  } catch (cause) {
    if (cause instanceof UserError || signal.aborted) throw cause;
    throw new UserError("notFound", say`The plan ${file} cannot be read.`, say`Specify an existing file.`, {
      cause,
    });
  }
  return parsePlan(text);
}
