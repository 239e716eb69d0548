import path from "node:path";
import { compareAndRemember, type ComparisonFound } from "../../app/measuring/compareSettings";
import { absoluteModel } from "../../app/probe";
import { typedArguments } from "../../app/launchArguments";
import { variedOptions } from "../../core/bench/comparisonArms";
import { comparisonPlanText, planComparison, type ComparisonPlan } from "../../core/bench/comparisonPlan";
import {
  comparisonChoice,
  comparisonSetup,
  type ComparedSettings,
  type ComparisonChoice,
} from "../../core/bench/comparisonSetup";
import type { ComparisonResult } from "../../core/bench/comparison";
import { refuseDear } from "../../core/bench/probePlan";
import { formatNumber, formatSeconds, formatText } from "../../core/format";
import { parseArguments } from "../../core/launch/commandLine";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import { foreignUseTexts } from "../../core/monitor/foreignUse";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { measureFirstTokens } from "../../node/llamaBench/llamaBenchProbe";
import { findLlamaProgram } from "../../node/machine/llamaPrograms";
import { tokenList, wholeNumber } from "../arguments";
import type { CliCommand, CliContext } from "../command";
import { historyOf, withHistory, type HistoryFlags } from "../kept";
import { givenLaunch } from "../launch";
import { endProgress, printError, printJson, printLines, printProgress, table } from "../output";

interface CompareFlags extends HistoryFlags {
  readonly bench: string;
  readonly with: readonly string[];
  readonly depths: readonly number[];
  readonly budget?: number;
  readonly price?: true;
  readonly json?: true;
}

export const addCompare: CliCommand = (program, context) => {
  const command = program
    .command("compare")
    .description(
      "compare settings by speed with llama-bench, at one or more depths; those of today go after --, as llama-server's arguments",
    )
    .requiredOption(
      "--bench <file>",
      "the llama-bench to run; the llama-server beside it is asked for answers",
    )
    .requiredOption(
      "--with <options>",
      'the other setting, for example "-ctk q8_0 -ctv q8_0"; can be repeated',
      (text: string, before: readonly string[]) => [...before, text],
      [],
    )
    .option("--depths <list>", "depths in tokens, for example 32K,128K", tokenList, [4096])
    .option("--budget <seconds>", "refuse to start what would take longer", wholeNumber)
    .option("--price", "only say what it would cost");
  withHistory(command, "folder of earlier comparisons, and to save this one in")
    .option("--json", "one JSON document on stdout")
    .action(async (flags: CompareFlags) => {
      const launch = await launchOf(context);
      const choice = choiceOf(launch, flags);
      const plan = await priceOf(flags, { launch, choice }, context.signal);
      if (flags.price) {
        if (flags.json) printJson({ plan });
        else printLines([formatText(comparisonPlanText(plan))]);
        return;
      }
      if (flags.budget !== undefined) {
        refuseDear(plan, { budgetSeconds: flags.budget, left: flags.budget });
      }
      printError(formatText(comparisonPlanText(plan)));
      const found = await compareAndRemember(
        {
          program: flags.bench,
          server: () => serverBeside(flags.bench),
          ...{ options: launch, choice, plan },
          onProgress: ({ share, remainingSeconds }) =>
            printProgress(`${formatNumber(share * 100)} %, ${formatSeconds(remainingSeconds)} to go`),
          onUnchecked: (why) => printError(`The answers were not compared: ${formatText(why)}`),
        },
        historyOf(flags),
        context.signal,
      );
      endProgress();
      if (flags.json) printJson({ plan, ...found });
      else printLines(linesOf(found));
    });
};

/** The setting of today: a model is named as curves are kept under it. */
async function launchOf(context: CliContext): Promise<LaunchOptions> {
  const launch = await givenLaunch(context);
  if (launch.model !== undefined) return { ...launch, model: absoluteModel(launch.model) };
  if (launch.hfRepo !== undefined) return launch;
  throw new UserError(
    "invalidInput",
    say`No model was named.`,
    say`Add llama-server's arguments after --, for example -- -m model.gguf.`,
  );
}

/** @throws UserError where the other settings are none that llama-bench can vary */
function choiceOf(launch: LaunchOptions, { with: others, depths }: CompareFlags): ComparisonChoice {
  return comparisonChoice(comparisonSetup(launch), others.map(settingsOf), depths);
}

function settingsOf(text: string): ComparedSettings {
  const { options, problems } = parseArguments(typedArguments(text), {});
  const [problem] = problems;
  const names = new Set<string>(variedOptions.map(({ option }) => option));
  const foreign = Object.keys(options).find((name) => !names.has(name));
  if (problem !== undefined || foreign !== undefined) {
    throw new UserError(
      "invalidInput",
      problem?.message ?? say`${text} has an option that cannot be compared.`,
      say`Name other values of -ctk, -ctv, -fa, -ub, -b or -t.`,
    );
  }
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]));
}

async function priceOf(
  { bench, depths }: CompareFlags,
  { launch, choice }: { readonly launch: LaunchOptions; readonly choice: ComparisonChoice },
  signal: AbortSignal,
): Promise<ComparisonPlan> {
  const seen = await measureFirstTokens({ program: bench, options: launch }, signal);
  return planComparison(
    seen,
    [...new Set(depths)].sort((p, q) => p - q),
    choice.others.length,
  );
}

async function serverBeside(bench: string): Promise<string> {
  const folder = bench === path.basename(bench) ? undefined : path.dirname(path.resolve(bench));
  const found = await findLlamaProgram("llama-server", folder ?? "");
  if (found !== undefined) return found;
  throw new UserError(
    "notFound",
    say`llama-server was not found beside ${bench}.`,
    say`Use the llama-bench of a whole llama.cpp.`,
  );
}

function linesOf({ results, conclusions, monitor, seconds }: ComparisonFound): readonly string[] {
  return [
    ...conclusions.flatMap(({ option, values, sentences }) => [
      `${option}: ${values[0]} compared with ${values[1]}`,
      ...table(
        results
          .filter((result) => result.option === option && result.values[1] === values[1])
          .flatMap(rowsOf),
      ),
      ...sentences.map((sentence) => formatText(sentence)),
      "",
    ]),
    ...new Set(
      results
        .flatMap(({ prefill, generation }) => [...prefill.notes, ...generation.notes])
        .map((note) => formatText(note)),
    ),
    `measured in ${formatSeconds(seconds)}; machine ${monitor.verdict}`,
    ...foreignUseTexts(monitor).map((text) => formatText(text)),
  ];
}

const rowsOf = ({ depth, prefill, generation }: ComparisonResult): readonly (readonly string[])[] => [
  [formatNumber(depth), "prefill", formatText(prefill.sentence)],
  ["", "generation", formatText(generation.sentence)],
];
