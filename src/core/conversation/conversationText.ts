import { count, say, seconds, type Text } from "../text";
import { rereadText } from "./causeText";
import type { Forecast } from "./forecast";
import type { CauseCost, ShownProgram } from "./shownConversation";
import type { ConversationSource } from "./source";

export function sourceText(source: ConversationSource): Text {
  switch (source.kind) {
    case "chosenLog":
      return say`From the log you chose: ${source.file}`;
    case "ownLog":
      return say`From the log of the server started here: ${source.file}`;
    case "commandLine":
      return say`From the log that the server's --log-file names: ${source.file}`;
    case "slots":
      return say`From /slots of ${source.url}, which does not tell what was read again, refused or how long it took.`;
  }
}

/** Less is nothing to wait for; seconds. */
const leastWait = 0.1;

/** What a conversation holds, and how it goes on: one sentence each. */
export function forecastTexts({ turns, fillTokens, limit, turnsLeft, nextWait }: Forecast): Text[] {
  const fill =
    limit === undefined
      ? say`Turn ${count(turns)}: ${count(fillTokens)} token[s].`
      : say`Turn ${count(turns)}: ${count(fillTokens)} of ${count(limit)}.`;
  return [
    fill,
    ...(turnsLeft === undefined ? [] : [turnsLeftText(turnsLeft)]),
    ...(nextWait?.known === true && nextWait.highSeconds >= leastWait && turnsLeft?.middle !== 0
      ? [
          say`Turn ${count(turns + 1)} will wait ≈ ${seconds(nextWait.seconds)} (${seconds(nextWait.lowSeconds)} – ${seconds(nextWait.highSeconds)}).`,
        ]
      : []),
  ];
}

function turnsLeftText({ middle, low, high }: NonNullable<Forecast["turnsLeft"]>): Text {
  if (middle === 0) {
    return high === 0
      ? say`The next turn of this size is refused.`
      : say`The next turn of this size is refused; at best ${count(high)} more turn[s].`;
  }
  return low === high
    ? say`About ${count(middle)} more turn[s] of this size until it is refused.`
    : say`About ${count(middle)} more turn[s] of this size until it is refused (${count(low)} – ${count(high)}).`;
}

/** The last request, where it was refused. */
export function refusedText({ requests }: ShownProgram): Text | undefined {
  const last = requests.at(-1);
  if (last?.outcome !== "refused") return undefined;
  return last.promptTokens === undefined || last.limit === undefined
    ? say`The last request was refused.`
    : say`The last request was refused: ${count(last.promptTokens)} token[s], and the context holds ${count(last.limit)}.`;
}

/** For the status bar. */
export function fillShort({ fillTokens, limit, turnsLeft }: Forecast): Text {
  const fill = limit === undefined ? say`${count(fillTokens)}` : say`${count(fillTokens)} / ${count(limit)}`;
  return turnsLeft === undefined
    ? say`${fill} token[s]`
    : say`${fill} · ${count(turnsLeft.middle)} turn[s] left`;
}

/** What one cause has cost so far, what it is and what avoids it. */
export function causeCostText({ times, tokens, seconds: spent, last }: CauseCost): {
  readonly cost: Text;
  readonly cause: Text;
  readonly remedy: Text;
} {
  const { cause, remedy } = rereadText(last);
  const often = say`${count(times)} time[s]`;
  const cost =
    spent === undefined
      ? say`${often}, ${count(tokens)} token[s] read again.`
      : say`${often}, ${count(tokens)} token[s] read again in ≈ ${seconds(spent)}.`;
  return { cost, cause, remedy };
}
