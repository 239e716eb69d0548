import { scaleLinear } from "d3-scale";
import type { ShownProgram, ShownRequest, ShownRunning } from "../../core/conversation/shownConversation";
import { largest } from "../../core/lists";
import { say, type Text } from "../../core/text";

/** Parts of a request's bar from below. `read`: again or new, which is not known. */
export const conversationParts = ["cached", "again", "new", "read", "generated", "refused"] as const;

export type ConversationPart = (typeof conversationParts)[number];

export const conversationPartNames: Readonly<Record<ConversationPart, Text>> = {
  cached: say`from cache`,
  again: say`read again`,
  new: say`new`,
  read: say`read`,
  generated: say`generated`,
  refused: say`refused`,
};

export interface Piece<Kind> {
  readonly kind: Kind;
  readonly y: number;
  readonly height: number;
}

export interface ConversationBar {
  readonly x: number;
  readonly width: number;
  readonly tokens: readonly Piece<ConversationPart>[];
  /** Below: how long the prompt and the answer took. */
  readonly times: readonly Piece<"prefill" | "generation">[];
  readonly of: ShownRequest | ShownRunning;
  /** How long the prompt of a running request is going to be, as far as it is known. */
  readonly outline?: { readonly y: number; readonly height: number };
}

export interface Tick {
  readonly at: number;
  readonly value: number;
}

export interface ConversationLayout {
  readonly bars: readonly ConversationBar[];
  readonly limitY: number | undefined;
  readonly tokenTicks: readonly Tick[];
  readonly timeTicks: readonly Tick[];
  /** Numbers of requests below their bars. */
  readonly numberTicks: readonly Tick[];
}

/** Bars of short conversations are not wider than this. */
const widest = 36;
const labelWidth = 44;

/** Tokens of each part, with nothing where it is not known. */
export function partsOf(request: ShownRequest | ShownRunning): Partial<Record<ConversationPart, number>> {
  if (!("outcome" in request)) {
    const { live, cachedTokens = 0, generatedTokens, promptTokens } = request;
    const processed = live?.processed ?? promptTokens?.low ?? cachedTokens;
    return {
      cached: Math.min(cachedTokens, processed),
      read: Math.max(0, processed - cachedTokens),
      generated: generatedTokens ?? 0,
    };
  }
  const { outcome, promptTokens = 0, cachedTokens, readTokens = 0, generatedTokens } = request;
  if (outcome === "refused") return { refused: promptTokens };
  const { againTokens, newTokens } = request;
  return {
    cached: cachedTokens ?? 0,
    ...(againTokens === undefined || newTokens === undefined
      ? { read: readTokens }
      : { again: againTokens, new: newTokens }),
    generated: generatedTokens ?? 0,
  };
}

/** Bars in a box for tokens and one for seconds, each with its origin at the upper left. */
export function conversationLayout(
  { requests, running, limit }: ShownProgram,
  box: { readonly width: number; readonly tokensHeight: number; readonly timeHeight: number },
): ConversationLayout {
  const all: readonly (ShownRequest | ShownRunning)[] = [...requests, ...running];
  const sums = all.map((each) =>
    Math.max(
      Object.values(partsOf(each)).reduce((sum, tokens) => sum + tokens, 0),
      "outcome" in each ? 0 : (each.promptTokens?.high ?? 0),
    ),
  );
  const top = Math.max(largest(sums), limit ?? 0, 1) * 1.04;
  const y = scaleLinear([0, top], [box.tokensHeight, 0]);
  const longest = largest(
    all.map((each) => secondsOf(each)[0] + secondsOf(each)[1]),
    0,
  );
  const t = scaleLinear([0, Math.max(longest, 1e-3) * 1.04], [0, box.timeHeight]);
  const pitch = Math.min(widest * 1.25, box.width / Math.max(1, all.length));
  const width = Math.max(1, pitch * 0.8);
  const bars = all.map((of, index): ConversationBar => {
    const x = index * pitch + (pitch - width) / 2;
    const outline = "outcome" in of || of.promptTokens === undefined ? undefined : of.promptTokens;
    const prompt = outline && (outline.low + outline.high) / 2;
    return {
      ...{ x, width, of },
      tokens: stacked(partsOf(of), y),
      times: timesOf(of, t),
      ...(prompt !== undefined && { outline: { y: y(prompt), height: box.tokensHeight - y(prompt) } }),
    };
  });
  const every = Math.max(1, Math.ceil(labelWidth / pitch));
  return {
    bars,
    limitY: limit === undefined ? undefined : y(limit),
    tokenTicks: y.ticks(4).map((value) => ({ at: y(value), value })),
    timeTicks: longest === 0 ? [] : t.ticks(2).map((value) => ({ at: t(value), value })),
    numberTicks: bars.flatMap(({ x, of }, index) =>
      "number" in of && index % every === 0 ? [{ at: x + width / 2, value: of.number }] : [],
    ),
  };
}

function stacked(
  parts: Partial<Record<ConversationPart, number>>,
  y: (tokens: number) => number,
): Piece<ConversationPart>[] {
  let sum = 0;
  return conversationParts.flatMap((kind) => {
    const tokens = parts[kind] ?? 0;
    if (tokens <= 0) return [];
    const from = y(sum);
    sum += tokens;
    return [{ kind, y: y(sum), height: from - y(sum) }];
  });
}

/** They grow downwards. */
function timesOf(
  request: ShownRequest | ShownRunning,
  t: (seconds: number) => number,
): Piece<"prefill" | "generation">[] {
  const [prefill, generation] = secondsOf(request);
  const read = { kind: "prefill", y: 0, height: t(prefill) } as const;
  const written = { kind: "generation", y: t(prefill), height: t(generation) } as const;
  return [read, written].filter(({ height }) => height > 0);
}

function secondsOf(request: ShownRequest | ShownRunning): readonly [prefill: number, generation: number] {
  return "outcome" in request
    ? [request.prefillSeconds ?? 0, request.generationSeconds ?? 0]
    : [request.live?.elapsedSeconds ?? 0, 0];
}
