import { foreignUseTexts } from "../../monitor/foreignUse";
import { eventText } from "../../monitor/interference";
import { formatBytes, formatNumber, formatSeconds, formatText } from "../../format";
import { codeBlock, inMarkdown, markdownTable, type Markdown } from "../../markdown";
import { count, say, type Text } from "../../text";
import { failureText, invalidText } from "../score/judgeLadder";
import type { LadderReport } from "./ladderReport";
import { useText, type FolderTokens } from "../score/recommend";
import type { LadderHeader, LadderStep } from "../score/record";
import { peaksOf, type RungResult } from "../score/results";
import { largest } from "../../lists";

/** The ladder as Markdown for a bug report or an article: verdict, criteria, rungs, positions, setup. */
export function ladderMarkdown(report: LadderReport, header: LadderHeader, folder?: FolderTokens): string {
  return [
    `# Acceptance ladder: ${formatNumber(report.targetTokens)} tokens ${report.pass ? "passed" : "not passed"}`,
    "",
    written(report.nextStep.sentence),
    ...verified(report),
    ...report.nextStep.actions.map((action) => `- ${written(action)}`),
    "",
    "## Criteria",
    `Declared before the first rung; hash \`${report.criteria.hash}\`, plan \`${report.planHash}\`.`,
    "",
    plainTable(
      ["criterion", "passed", "seen"],
      report.results.map(({ name, passed, sentence }) => [
        name,
        passed === null ? "unknown" : passed ? "yes" : "no",
        formatText(sentence),
      ]),
    ),
    "",
    `A setup that recalls 0.85 passes these recall criteria with chance ${chance(report, 0.85)}, one that recalls 0.98 with ${chance(report, 0.98)}.`,
    "",
    "## Rungs",
    plainTable(
      [
        "tokens",
        "purpose",
        "runs",
        "recall",
        "95 % interval",
        "worst run",
        "twins",
        "constraints",
        "prefill",
        "generation",
        "log-probability",
        "peak of server",
        "least free",
        "machine",
      ],
      report.rungs.map(rungRow),
    ),
    "",
    "## Recall by position",
    "Recalled of asked, by the tenth of the prompt (its middle in percent).",
    "",
    plainTable(
      ["tokens", ...Array.from({ length: 10 }, (_, i) => String(10 * i + 5))],
      report.rungs.map((rung) => [
        formatNumber(rung.tokens),
        ...Array.from({ length: 10 }, (_, i) => {
          const part = rung.byPosition.find(({ depth }) => Math.floor(depth * 10) === i);
          return part === undefined ? "" : `${part.correct}/${part.of}`;
        }),
      ]),
    ),
    "",
    ...failures(report),
    "## Context for a use",
    "From what was measured here: need, waiting, recall and context, whichever ends first.",
    "",
    plainTable(
      ["use", "context"],
      report.recommended.map(({ use, sentence }) => [formatText(useText(use, folder)), formatText(sentence)]),
    ),
    "",
    "## Setup",
    plainTable(
      ["field", "value"],
      [
        ...Object.entries(report.setup),
        ...Object.entries(header.conditions ?? {}),
        ["operating system", header.machine.platform],
        ["processor", `${header.machine.cpu} (${header.machine.logicalCpus})`],
        ["memory", formatBytes(header.machine.memoryBytes)],
        ["seed", header.plan.seed],
        ["thinking", header.plan.thinking],
        ["sampling", "temperature 0"],
        ["answer tokens", formatNumber(header.plan.answerTokens)],
        ["begun", new Date(header.at).toISOString()],
        ["measured with", header.tool],
      ],
    ),
    "",
    ...report.warnings.map((warning) => `Note: ${written(warning)}`),
    "",
  ].join("\n");
}

/** A length that was repeated and held, where the target did not. */
function verified({ pass, window }: LadderReport): readonly string[] {
  if (pass || window.verifiedTokens === undefined) return [];
  return [
    `- ${written(say`Verified with the declared repetitions: ${count(window.verifiedTokens)} token[s].`)}`,
  ];
}

function chance({ criteria }: LadderReport, recall: number): string {
  const rate = criteria.acceptance.find((entry) => entry.recall === recall)?.rate ?? 0;
  return `${formatNumber(100 * rate, "en", 1)} %`;
}

function rungRow(rung: RungResult): readonly string[] {
  const { recall, worstRun, constraints, prefillSeconds, generationTokensPerSecond, certainty } = rung;
  const peak = largest(
    rung.steps.map((step) => step.memory?.serverPeakBytes ?? 0),
    0,
  );
  const grown = rung.steps.find((step) => step.mode === "grown" && step.prefillSeconds !== undefined);
  return [
    formatNumber(rung.tokens),
    rung.purpose,
    String(rung.validRuns),
    recall === undefined ? "" : `${recall.correct}/${recall.of}`,
    recall === undefined ? "" : `${formatNumber(100 * recall.low)}–${formatNumber(100 * recall.high)} %`,
    worstRun === undefined ? "" : `${worstRun.correct}/${worstRun.of}`,
    String(rung.twins),
    constraints === undefined ? "" : `${constraints.kept}/${constraints.of}`,
    prefillSeconds !== undefined
      ? formatSeconds(prefillSeconds)
      : grown?.prefillSeconds === undefined
        ? ""
        : `+${formatSeconds(grown.prefillSeconds)} on ${formatNumber(grown.cachedTokens ?? 0)}`,
    generationTokensPerSecond === undefined ? "" : `${formatNumber(generationTokensPerSecond, "en", 1)} t/s`,
    certainty === undefined ? "" : formatNumber(certainty.meanLogProbability, "en", 3),
    peak === 0 ? "" : formatBytes(peak),
    leastFree(rung),
    [...new Set(rung.steps.map((step) => step.monitor?.verdict ?? "unmonitored"))].join(", "),
  ];
}

/** On every device and the host, at its fullest. */
function leastFree(rung: RungResult): string {
  return peaksOf(rung.steps)
    .map(({ name, leastFreeBytes }) => `${name} ${formatBytes(leastFreeBytes)}`)
    .join(", ");
}

function failures({ rungs }: LadderReport): readonly string[] {
  const lines = rungs.flatMap((rung) => rung.steps).flatMap(stepLines);
  return lines.length === 0 ? [] : ["## What happened", ...lines, ""];
}

function stepLines(step: LadderStep): readonly string[] {
  const where = `${formatNumber(step.tokens)} tokens, run ${step.run}`;
  const events = (step.monitor?.events ?? []).slice(0, 3);
  return [
    ...(step.failure === undefined
      ? []
      : [
          `- ${where}: ${written(failureText(step.failure.kind))} ${inMarkdown(step.failure.message)}`,
          ...(step.failure.log === undefined ? [] : ["", codeBlock(step.failure.log.join("\n"))]),
        ]),
    ...(step.invalid === undefined ? [] : [`- ${where}: ${written(invalidText(step.invalid))}`]),
    ...events.map((event) => `- ${where}: ${written(eventText(event))}`),
    ...(step.monitor === undefined ? [] : foreignUseTexts(step.monitor)).map(
      (use) => `- ${where}: ${written(use)}`,
    ),
  ];
}

/** A sentence with whatever names and messages are in it. */
export const written = (text: Text): Markdown => inMarkdown(formatText(text));

/** Figures, names and sentences in rows. */
export const plainTable = (head: readonly string[], rows: readonly (readonly string[])[]): Markdown =>
  markdownTable(
    head.map(inMarkdown),
    rows.map((cells) => cells.map(inMarkdown)),
  );
