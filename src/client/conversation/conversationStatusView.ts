import { fillShort, forecastTexts, refusedText } from "../../core/conversation/conversationText";
import type { ShownConversation } from "../../core/conversation/shownConversation";
import type { VerdictSeverity } from "../../core/report/verdict";
import type { Text } from "../../core/text";

/** Nobody goes on with a conversation after so long; milliseconds. */
const forgottenMs = 3_600_000;
/** From here on somebody should think of an end. */
const fewTurns = 2;

/** What the item says of the conversation that was written on last; undefined: there is none, or it is over. */
export function conversationStatus(
  { programs }: ShownConversation,
  now: number,
): { readonly short: Text; readonly long: readonly Text[]; readonly severity: VerdictSeverity } | undefined {
  const [program] = programs;
  const ended = program?.requests.at(-1)?.endedAtMs;
  if (program?.forecast === undefined || ended === undefined || now - ended > forgottenMs) return undefined;
  const { forecast } = program;
  const refused = refusedText(program);
  const left = forecast.turnsLeft?.middle;
  return {
    short: fillShort(forecast),
    long: [...(refused === undefined ? [] : [refused]), ...forecastTexts(forecast)],
    severity: refused !== undefined || (left !== undefined && left <= fewTurns) ? "care" : "good",
  };
}
