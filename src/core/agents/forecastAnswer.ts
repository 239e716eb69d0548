import { causeCostText, forecastTexts, refusedText } from "../conversation/conversationText";
import { logCurves } from "../conversation/logCurve";
import type { Ledger } from "../conversation/ledger";
import {
  ledgerOfProgram,
  shownConversation,
  type ShownProgram,
  type ShownRunning,
} from "../conversation/shownConversation";
import type { ConversationSource } from "../conversation/source";
import { formatNumber, formatSeconds, formatText } from "../format";
import { livePrefillText } from "../prefill/livePrefill";
import { shownValue } from "../shown";
import type { Text } from "../text";

/** A small model shall be able to read the answer. */
const mostPrograms = 3;
const mostCauses = 2;
const mostRunning = 4;
const longestName = 96;
const longestSentence = 320;
/** A log that was written to so long ago may be another day's. */
const oldMs = 600_000;

/** How full the conversation is, how it goes on, and what was read again. @param now milliseconds since the epoch */
export function forecastAnswer(
  log:
    { readonly source: ConversationSource; readonly ledger: Ledger; readonly writtenAt: number } | undefined,
  now: number,
): string {
  if (log === undefined) {
    return "Not known: no log of the llama-server is found. Start llama-server with --log-file FILE. Ask server_state how full its slots are.";
  }
  const { source, ledger, writtenAt } = log;
  const { programs, unknown } = shownConversation(
    { source, ledger },
    { now, curveOf: (name) => logCurves(ledgerOfProgram(ledger, name)).at(-1) },
  );
  const shown = programs.slice(0, mostPrograms);
  const few = shown.length === 1;
  const file = source.kind === "slots" ? source.url : source.file;
  return [
    ...shown.flatMap((program) => programLines(program, few)),
    ...(shown.length === 0
      ? [
          unknown.lines > 0
            ? "Not known: the log is worded in a way this version does not know."
            : "No requests in the log so far.",
        ]
      : []),
    `From the log ${shownValue(file, longestName)}${now - writtenAt > oldMs ? `, last written ${formatSeconds((now - writtenAt) / 1000)} ago` : ""}.`,
  ].join("\n");
}

function programLines(program: ShownProgram, only: boolean): readonly string[] {
  const { name, forecast, running, causes } = program;
  const refused = refusedText(program);
  return [
    ...(name === undefined ? [] : [`${shownValue(name, longestName)}:`]),
    ...(forecast === undefined
      ? ["No turn has been answered since the server's start."]
      : forecastTexts(forecast).map(line)),
    ...(forecast !== undefined && forecast.growthTokens === undefined
      ? ["Too few turns so far to tell how many are left."]
      : []),
    ...(refused === undefined ? [] : [line(refused)]),
    ...running.slice(0, only ? mostRunning : 1).map(runningLine),
    ...causes.slice(0, only ? mostCauses : 1).map((cost) => {
      const { cost: often, cause, remedy } = causeCostText(cost);
      return `Read again ${line(often)} ${line(cause)} ${line(remedy)}`;
    }),
  ];
}

function runningLine({ slot, stage, live, generatedTokens }: ShownRunning): string {
  if (stage === "answering")
    return `Slot ${slot} is answering: ${formatNumber(generatedTokens ?? 0)} tokens so far.`;
  return live === undefined ? `Slot ${slot} is reading a prompt.` : line(livePrefillText(live));
}

const line = (text: Text): string => shownValue(formatText(text), longestSentence);
