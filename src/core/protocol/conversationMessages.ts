import type { ConversationPlan } from "../conversation/plan";
import { noConversation, type ShownConversation } from "../conversation/shownConversation";
import type { Text } from "../text";

/** What the form of the card asks for. Tokens; a turn counts everything the client adds, tool results too. */
export interface PlanInput {
  readonly systemTokens: number;
  readonly turnTokens: number;
  readonly answerTokens: number;
  readonly turns: number;
}

/** Host to panel: the requests of the server in use, and the conversation that was planned last. */
export interface ConversationState {
  readonly shown: ShownConversation;
  readonly plan?: PlannedConversation;
}

export type PlannedConversation =
  | { readonly known: true; readonly input: PlanInput; readonly plan: ConversationPlan }
  | { readonly known: false; readonly input: PlanInput; readonly reason: Text };

export const noConversationState: ConversationState = { shown: noConversation };

/** In a form; what is written by hand is never larger. */
export const mostPlanned = { tokens: 100_000_000, turns: 500 } as const;

export const firstPlan: PlanInput = { systemTokens: 12_000, turnTokens: 1800, answerTokens: 600, turns: 30 };

/** What came from the page; undefined where it is no plan that can be made. */
export function planInput(value: unknown): PlanInput | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const number = (key: keyof PlanInput, least: number, most: number): number | undefined => {
    const found: unknown = Reflect.get(value, key);
    return Number.isSafeInteger(found) && Number(found) >= least && Number(found) <= most
      ? Number(found)
      : undefined;
  };
  const systemTokens = number("systemTokens", 0, mostPlanned.tokens);
  const turnTokens = number("turnTokens", 1, mostPlanned.tokens);
  const answerTokens = number("answerTokens", 0, mostPlanned.tokens);
  const turns = number("turns", 1, mostPlanned.turns);
  if (systemTokens === undefined || turnTokens === undefined) return undefined;
  if (answerTokens === undefined || turns === undefined) return undefined;
  return { systemTokens, turnTokens, answerTokens, turns };
}
