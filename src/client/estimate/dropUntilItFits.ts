import { planDrop } from "../../core/report/fileChoice";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { count, say, type Text } from "../../core/text";
import { UserError } from "../../core/userError";
import type { Gauge } from "./gauge";

/** Shared-out headers may be off by a few tokens: what was counted again may have to drop once more. */
const rounds = 3;

/**
 * Leaves out the fewest tokens, of the least worth first, until prompt and answer fit, and counts again to be sure. What it did in a
 * sentence.
 */
export async function dropUntilItFits(gauge: Gauge): Promise<Text> {
  const before = leftOutOf(reportOn(gauge));
  for (let round = 0; round < rounds; round++) {
    const report = reportOn(gauge);
    const plan = planDrop(report);
    if (plan === undefined) {
      throw new UserError(
        "invalidInput",
        say`How much one request may hold is unknown.`,
        say`Choose a server or a model first.`,
      );
    }
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

function reportOn({ state }: Gauge): GaugeReport {
  if (state.status === "ready") return state.report;
  throw new UserError(
    "invalidInput",
    say`Nothing has been estimated yet.`,
    say`Estimate files or folders first.`,
  );
}

const leftOutOf = (report: GaugeReport): readonly string[] => report.leftOut ?? [];
