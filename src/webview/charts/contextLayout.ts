import { scaleLinear } from "d3-scale";
import type { AcceptanceReport } from "../../core/acceptance/acceptanceReport";
import { say, type Text } from "../../core/text";

export interface ContextPart {
  readonly kind: "files" | "packing" | "template" | "reserve";
  readonly name: Text;
  readonly tokens: number;
}

export interface ContextLayout {
  readonly parts: readonly (ContextPart & { readonly x: number; readonly width: number })[];
  /** Where one request's context ends; undefined where nobody knows. */
  readonly limitX: number | undefined;
  /** Where the user's patience ends; undefined where nobody knows, or beyond the picture. */
  readonly patienceX: number | undefined;
}

export function contextParts({ parts, answerReserve }: AcceptanceReport): readonly ContextPart[] {
  return [
    { kind: "files", name: say`files`, tokens: parts.files },
    { kind: "packing", name: say`packing`, tokens: parts.packing },
    { kind: "template", name: say`chat template`, tokens: parts.template },
    { kind: "reserve", name: say`reserved for the answer`, tokens: answerReserve },
  ];
}

/** The parts one after the other; the scale holds the context or, where the prompt is larger, the whole prompt. */
export function contextLayout(
  acceptance: AcceptanceReport,
  width: number,
  patienceTokens?: number,
): ContextLayout {
  const parts = contextParts(acceptance).map((part) => ({ ...part, tokens: Math.max(0, part.tokens) }));
  const sum = parts.reduce((total, part) => total + part.tokens, 0);
  const limit = acceptance.nCtxPerSlot ?? undefined;
  const end = Math.max(1, sum, limit ?? sum * 1.15);
  const x = scaleLinear([0, end], [0, width]);
  let start = 0;
  return {
    parts: parts.map((part) => {
      const placed = { ...part, x: x(start), width: x(part.tokens) };
      start += part.tokens;
      return placed;
    }),
    limitX: limit === undefined ? undefined : x(limit),
    patienceX: patienceTokens === undefined || patienceTokens > end ? undefined : x(patienceTokens),
  };
}
