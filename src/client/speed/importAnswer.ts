import type { Speed } from "../../app/speed";
import type { ImportAnswer } from "../../core/history/assumption";
import type { RunSummary } from "../../core/history/runSummary";
import type { CurveKey } from "../../core/prefill/depthCurve";
import { shownName } from "../../core/shown";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { cancellable } from "../editor/cancellable";
import { pick } from "../editor/screen";
import { localized } from "../editor/vscodeText";

type SpeedForImport = Pick<Speed, "currentKey" | "importQuestion">;

const lookingAround = say`Checking server, model and machine`;

/**
 * Whether the curves are of the setup of now: nothing in a bench's output can say so for sure. Asked once for a model and
 * what is missing. @param use the answer, where it was given with the command
 */
export async function importAnswer(
  speed: SpeedForImport,
  file: string,
  use: unknown,
): Promise<{ readonly answer?: ImportAnswer; readonly remembered: boolean } | "cancelled"> {
  const setup = await cancellable(lookingAround, (signal) => speed.currentKey(signal));
  if (setup === undefined) return { remembered: false };
  if (typeof use === "boolean") return { answer: { setup, use }, remembered: false };
  const { missing, remembered } = await cancellable(lookingAround, (signal) =>
    speed.importQuestion(file, setup, signal),
  );
  if (missing.length === 0) return { answer: { setup, use: true }, remembered: false };
  if (remembered !== undefined) return { answer: { setup, use: remembered }, remembered: true };
  const picked = await askForUse(setup);
  return picked === undefined ? "cancelled" : { answer: { setup, use: picked }, remembered: false };
}

export async function askForUse(key: CurveKey): Promise<boolean | undefined> {
  const setup = [key.model.split(/[\\/]/).at(-1), key.flags].filter((part) => part !== "").join(" ");
  const picked = await pick(
    [
      {
        label: localized(say`Only show them in the history`),
        detail: localized(say`They were measured on another model, machine or with other options.`),
        use: false,
      },
      {
        label: localized(say`Use them for predictions`),
        detail: localized(say`They were measured on this machine with ${setup}.`),
        use: true,
      },
    ],
    { title: localized(say`What were these curves measured on?`) },
  );
  return picked?.use;
}

/** One of the imports that do not tell their setup. */
export async function chooseAssumed(
  runs: readonly RunSummary[],
  named: unknown,
): Promise<RunSummary | undefined> {
  const assumed = runs.filter((run) => run.assumed !== undefined);
  if (assumed.length === 0) {
    throw new UserError(
      "invalidInput",
      say`Nothing was assumed of any import.`,
      say`Import measurements that do not tell their model or options first.`,
    );
  }
  const known = assumed.find(({ id }) => id === named);
  if (known !== undefined || assumed.length === 1) return known ?? assumed[0];
  const picked = await pick(
    assumed.map((run) => ({
      label: shownName(run.label ?? run.model),
      description: shownName(new Date(run.at).toLocaleString()),
      ...(run.notes[0] !== undefined && { detail: localized(run.notes[0]) }),
      run,
    })),
    { title: localized(say`Change what was assumed of which import?`) },
  );
  return picked?.run;
}
