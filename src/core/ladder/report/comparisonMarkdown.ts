import { formatNumber } from "../../format";
import type { AnswerAgreement } from "../score/answerAgreement";
import type { LadderComparison } from "./compareLadders";
import type { LadderHeader } from "../score/record";
import { plainTable, written } from "./reportMarkdown";

/** Two ladders side by side for a bug report: what differs in the setup, what moved, how far the answers agree. */
export function comparisonMarkdown(
  comparison: LadderComparison,
  headers: { readonly first: LadderHeader; readonly other: LadderHeader },
): string {
  const { differing, capacity, speed, recall, agreement, notes } = comparison;
  const when = (header: LadderHeader): string => new Date(header.at).toISOString();
  return [
    "# Two acceptance ladders",
    "",
    written(comparison.sentence),
    "",
    "## What differs",
    ...(differing.length === 0
      ? ["Nothing that is known."]
      : [
          plainTable(
            ["field", `first (${when(headers.first)})`, `other (${when(headers.other)})`],
            differing.map(({ field, first, other }) => [field, first, other]),
          ),
        ]),
    "",
    "## What moved",
    plainTable(
      ["", "first", "other"],
      [
        ["longest length that finished", formatNumber(capacity.first), formatNumber(capacity.other)],
        ["canaries recalled by one only", formatNumber(recall.onlyFirst), formatNumber(recall.onlyOther)],
      ],
    ),
    "",
    `${formatNumber(recall.pairs)} canaries were asked in both; McNemar's exact p is ${formatNumber(recall.p, "en", 3)}.`,
    "",
    ...(speed.length === 0
      ? []
      : [
          plainTable(
            ["tokens", "what", "speed of the other over the first"],
            speed.map(({ tokens, kind, ratio }) => [
              formatNumber(tokens),
              kind,
              `${formatNumber(100 * ratio, "en", 0)} %`,
            ]),
          ),
          "",
        ]),
    ...(agreement === undefined ? [] : agreementLines(agreement)),
    ...notes.map((note) => `Note: ${written(note)}`),
    "",
  ].join("\n");
}

function agreementLines({
  answers,
  same,
  unit,
  byLength,
  logProbability,
}: AnswerAgreement): readonly string[] {
  return [
    "## How far the answers agree",
    `${formatNumber(same)} of ${formatNumber(answers)} answers are the same to the end.`,
    "",
    plainTable(
      ["length of the prompt", `equal ${unit} before the first difference`],
      byLength.map(({ tokens, agreed, of }) => [
        formatNumber(tokens),
        `${formatNumber(agreed)} of ${formatNumber(of)} (${formatNumber((100 * agreed) / of, "en", 1)} %)`,
      ]),
    ),
    "",
    ...(logProbability === undefined
      ? []
      : [
          `Over ${formatNumber(logProbability.tokens)} tokens of code that both wrote alike, the log-probability changed by ${formatNumber(logProbability.meanAbsoluteChange, "en", 4)} on average, at most by ${formatNumber(logProbability.largestChange, "en", 4)}.`,
          "",
        ]),
  ];
}
