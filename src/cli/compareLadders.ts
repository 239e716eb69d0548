import { comparisonMarkdown } from "../core/ladder/report/comparisonMarkdown";
import { compareLadders } from "../core/ladder/report/compareLadders";
import type { LadderRecord } from "../core/ladder/score/record";
import { say } from "../core/text";
import { UserError } from "../core/userError";
import { LadderStore } from "../node/ladder/ladderStore";
import type { CliCommand } from "./command";
import { printJson, printLines } from "./output";

export const addCompareLadders: CliCommand = (program, { signal }) => {
  program
    .command("compare-ladders")
    .description("what changed between two saved ladders, and whether one setting can be named as the cause")
    .argument("<first>", "folder of the first ladder (--out of `ladder`)")
    .argument("<other>", "folder of the other ladder")
    .option("--json", "one JSON document on stdout")
    .action(async (first: string, other: string, flags: { readonly json?: true }) => {
      const one = await storedLadder(first, signal);
      const two = await storedLadder(other, signal);
      const comparison = compareLadders(one, two);
      if (flags.json) printJson(comparison);
      else {
        const text = comparisonMarkdown(comparison, { first: one.header, other: two.header });
        printLines(text.trimEnd().split("\n"));
      }
    });
};

/** The record in a folder. Fails with `notFound` where there is none. */
export async function storedLadder(folder: string, signal: AbortSignal): Promise<LadderRecord> {
  const stored = await new LadderStore(folder).read(signal);
  if (stored !== undefined) return { header: stored.header, steps: stored.steps, warnings: [] };
  throw new UserError(
    "notFound",
    say`There is no ladder in ${folder}.`,
    say`Specify a folder that \`llama-gauge ladder --out\` wrote to.`,
  );
}
