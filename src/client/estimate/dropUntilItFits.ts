import { planDrop, roomForPrompt, roomInTime } from "../../core/report/fileChoice";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { count, say, type Text } from "../../core/text";
import { UserError } from "../../core/userError";
import type { Gauge } from "./gauge";

/** Shared-out headers may be off by a few tokens: what was counted again may have to drop once more. */
const rounds = 3;

/** context: prompt and answer fit one request; time: it is also read within the user's patience. */
export type DropAim = "context" | "time";

type Droppable = Pick<Gauge, "state" | "choose" | "recount">;

/**
 * Leaves out the fewest tokens, of the least worth first, until the aim is reached, and counts again to be sure. What it
 * did in a sentence.
 */
export async function dropUntilItFits(gauge: Droppable, aim: DropAim): Promise<Text> {
  const before = leftOutOf(reportOn(gauge));
  for (let round = 0; round < rounds; round++) {
    const report = reportOn(gauge);
    const room = roomFor(report, aim);
    const plan = room === undefined ? undefined : planDrop(report, room);
    if (plan === undefined) throw unknownRoom(aim);
    if (plan.kind === "fits") break;
    if (plan.kind === "impossible") {
      throw new UserError(
        "invalidInput",
        say`Even without any of the files the prompt does not fit.`,
        say`Start llama-server with a larger -c, or reserve less for the answer.`,
      );
    }
    gauge.choose([...leftOutOf(report), ...plan.files.map(({ path }) => path)]);
    if ((await gauge.recount()).kind !== "done") break;
  }
  const after = leftOutOf(reportOn(gauge));
  const dropped = after.length - before.length;
  return dropped === 0
    ? say`It fits: nothing needs to be excluded.`
    : say`${count(dropped)} file[s] excluded`;
}

function roomFor(report: GaugeReport, aim: DropAim): number | undefined {
  const context = roomForPrompt(report);
  if (aim === "context") return context;
  return report.wait.within === undefined ? undefined : Math.min(context ?? Infinity, roomInTime(report));
}

const unknownRoom = (aim: DropAim): UserError =>
  aim === "context"
    ? new UserError(
        "invalidInput",
        say`How much one request may hold is unknown.`,
        say`Choose a server or a model first.`,
      )
    : new UserError(
        "invalidInput",
        say`How much is read in the time you would wait is unknown.`,
        say`Run a depth probe, and set how long you would wait (llamaGauge.patienceSeconds).`,
      );

function reportOn({ state }: Droppable): GaugeReport {
  if (state.status === "ready") return state.report;
  throw new UserError(
    "invalidInput",
    say`Nothing has been estimated yet.`,
    say`Estimate files or folders first.`,
  );
}

const leftOutOf = (report: GaugeReport): readonly string[] => report.leftOut ?? [];
