import type { DepthCurve } from "../prefill/depthCurve";
import { predict } from "../prefill/predict";
import type { Prediction } from "../prefill/prediction";
import type { Ledger } from "./ledger";
import type { RequestRecord } from "./requestRecord";

export interface Forecast {
  readonly conversation: number;
  /** Requests of it so far that were answered. */
  readonly turns: number;
  /** Tokens in the slot now. */
  readonly fillTokens: number;
  readonly limit?: number;
  /** More turns that are accepted, if it grows as before: the middle, and 80 % of what its growth allows. */
  readonly turnsLeft?: { readonly middle: number; readonly low: number; readonly high: number };
  /** Mean growth of the prompt from turn to turn. */
  readonly growthTokens?: number;
  /** Wait for the next turn of usual size. */
  readonly nextWait?: Prediction;
}

/** Turns that are looked back on: tasks change. */
const lookBack = 10;
/** One growth has no spread. */
const leastGrowths = 2;
/** Half-width of the 80 % band of a normal distribution. */
const z80 = 1.2816;
const mostTurns = 10_000;

/** Of the conversation that was written on last; a server that was started again since holds none. */
export function forecastOf(ledger: Ledger, curve?: DepthCurve): Forecast | undefined {
  const newest = new Map(ledger.servers.map(({ source, start }) => [source, start]));
  const answered = ledger.requests.filter(
    ({ source, start, outcome, promptTokens, generatedTokens }) =>
      start >= (newest.get(source) ?? start) &&
      (outcome === "done" || outcome === "cut" || outcome === "ended") &&
      promptTokens !== undefined &&
      generatedTokens !== undefined,
  );
  const last = answered.at(-1);
  if (last?.fillTokens === undefined) return undefined;
  const turns = answered.filter(({ conversation }) => conversation === last.conversation);
  const growths = growthsOf(turns).slice(-lookBack);
  const base = {
    conversation: last.conversation,
    turns: turns.length,
    fillTokens: last.fillTokens,
    ...(last.limit !== undefined && { limit: last.limit }),
  };
  if (growths.length < leastGrowths || last.promptTokens === undefined) return base;
  const growth = growths.reduce((total, each) => total + each, 0) / growths.length;
  if (growth <= 0) return base;
  const variance = growths.reduce((total, each) => total + (each - growth) ** 2, 0) / (growths.length - 1);
  const { promptTokens, limit } = last;
  const read = Math.max(1, Math.round(promptTokens + growth - last.fillTokens));
  return {
    ...base,
    growthTokens: growth,
    ...(limit !== undefined && {
      turnsLeft: {
        middle: turnsUntil(limit - promptTokens, (n) => n * growth),
        // k turns scatter by s·√k, and their mean is known to s/√n
        low: turnsUntil(limit - promptTokens, (n) => n * growth + z80 * scatter(n, variance, growths.length)),
        high: turnsUntil(
          limit - promptTokens,
          (n) => n * growth - z80 * scatter(n, variance, growths.length),
        ),
      },
    }),
    ...(curve !== undefined && { nextWait: predict(curve, { tokens: read, cached: last.fillTokens }) }),
  };
}

const scatter = (turns: number, variance: number, seen: number): number =>
  Math.sqrt(variance * turns + (variance * turns * turns) / seen);

/** Turns whose prompt still has fewer tokens than the room. */
function turnsUntil(room: number, grown: (turns: number) => number): number {
  let turns = 0;
  while (turns < mostTurns && grown(turns + 1) < room) turns++;
  return turns;
}

function growthsOf(turns: readonly RequestRecord[]): readonly number[] {
  return turns
    .slice(1)
    .map(({ promptTokens = 0 }, index) => promptTokens - (turns[index]?.promptTokens ?? 0));
}
