import type { DepthCurve } from "../../prefill/depthCurve";
import { predict } from "../../prefill/predict";
import { count, say, seconds } from "../../text";
import type { Text } from "../../text";
import type { LadderOutcome } from "./judgeLadder";
import type { LadderStep } from "./record";

/** What a context is used for: what a request holds, how long one waits for it, and what the answer needs. */
export type ContextUse = "chat" | "rag" | "completion" | "codeReview" | "summary";

export interface UseNeeds {
  readonly use: ContextUse;
  /** Tokens of a usual request; of *this* folder for a review or a summary. */
  readonly promptTokens: number;
  readonly answerTokens: number;
  /** Longest wait for the first word. */
  readonly patienceSeconds: number;
}

/** What people wait for: a completion while typing, an answer in a talk, a review over a coffee. */
export const usualNeeds: Readonly<Record<ContextUse, Omit<UseNeeds, "use">>> = {
  completion: { promptTokens: 2048, answerTokens: 256, patienceSeconds: 2 },
  chat: { promptTokens: 6144, answerTokens: 1024, patienceSeconds: 15 },
  rag: { promptTokens: 8192, answerTokens: 1024, patienceSeconds: 30 },
  codeReview: { promptTokens: 32_768, answerTokens: 4096, patienceSeconds: 600 },
  summary: { promptTokens: 32_768, answerTokens: 2048, patienceSeconds: 600 },
};

export interface Recommendation {
  readonly use: ContextUse;
  /** For `-c`, a multiple of 256; undefined where nothing measured supports any. */
  readonly nCtx?: number;
  readonly limitedBy: "need" | "waiting" | "probe" | "recall" | "context" | "unknown";
  /** Recall was tested this far, in all the repetitions that were declared. */
  readonly verified: boolean;
  readonly sentence: Text;
}

export interface MeasuredLimits {
  readonly curve?: DepthCurve;
  /** Longest length with sufficient recall, also where it was run only once; 0: even the shortest failed. */
  readonly recalledTokens?: number;
  /** Longest length that met the declared recall in all the runs it was declared with. */
  readonly verifiedTokens?: number;
  /** What one request held while it was measured. */
  readonly maxContext?: number;
}

/** What is to be read or summed up: a folder, in the model's own tokens. */
export interface FolderTokens {
  readonly label: string;
  readonly tokens: number;
}

/** One context for each use, shortest need first; reviews and summaries are of this folder where one is named. */
export function recommendations(measured: MeasuredLimits, folder?: FolderTokens): readonly Recommendation[] {
  const uses: readonly ContextUse[] = ["completion", "chat", "rag", "codeReview", "summary"];
  return uses.map((use) => {
    const needs = { use, ...usualNeeds[use] };
    const whole = folder !== undefined && (use === "codeReview" || use === "summary");
    return recommendContext(whole ? { ...needs, promptTokens: folder.tokens } : needs, measured);
  });
}

export function useText(use: ContextUse, folder?: FolderTokens): Text {
  switch (use) {
    case "completion":
      return say`Completion while typing`;
    case "chat":
      return say`Chat`;
    case "rag":
      return say`Retrieval (RAG)`;
    case "codeReview":
      return folder === undefined ? say`Code review` : say`Code review of ${folder.label}`;
    case "summary":
      return folder === undefined ? say`Summary` : say`Summary of ${folder.label}`;
  }
}

/** A context for one use, from what was measured on this machine: the least of need, patience, recall and memory. */
export function recommendContext(needs: UseNeeds, measured: MeasuredLimits): Recommendation {
  const { use, promptTokens, answerTokens, patienceSeconds } = needs;
  const recalledTokens = measured.recalledTokens ?? measured.verifiedTokens;
  if (recalledTokens === 0) {
    return {
      use,
      verified: false,
      limitedBy: "recall",
      sentence: say`No length can be recommended: recall failed at the shortest rung of the ladder.`,
    };
  }
  const waiting = measured.curve === undefined ? undefined : longestWithin(measured.curve, patienceSeconds);
  const room = measured.maxContext === undefined ? undefined : measured.maxContext - answerTokens;
  if (room !== undefined && room <= 0) {
    return {
      use,
      verified: false,
      limitedBy: "context",
      sentence: say`The server gave one request ${count(measured.maxContext ?? 0)} token[s] when it was measured; the answer alone may need ${count(answerTokens)}.`,
    };
  }
  const limits = [
    { by: "need" as const, tokens: promptTokens },
    ...(waiting === undefined ? [] : [waiting]),
    ...(recalledTokens === undefined ? [] : [{ by: "recall" as const, tokens: recalledTokens }]),
    ...(room === undefined ? [] : [{ by: "context" as const, tokens: room }]),
  ];
  if (waiting === undefined && recalledTokens === undefined) {
    return {
      use,
      verified: false,
      limitedBy: "unknown",
      sentence: say`Nothing has been measured on this machine yet: run the probe or the ladder.`,
    };
  }
  const least = limits.reduce((a, b) => (b.tokens < a.tokens ? b : a));
  const nCtx = Math.max(256, Math.ceil((Math.max(0, least.tokens) + answerTokens) / 256) * 256);
  const verified = least.tokens <= (measured.verifiedTokens ?? 0);
  const tried = recalledTokens !== undefined;
  const sentence = why({ ...least, verified, tried }, nCtx, needs);
  return { use, nCtx, limitedBy: least.by, verified, sentence };
}

function why(
  {
    by,
    tokens,
    verified,
    tried,
  }: {
    readonly by: Recommendation["limitedBy"];
    readonly tokens: number;
    readonly verified: boolean;
    /** A ladder was run. */
    readonly tried: boolean;
  },
  nCtx: number,
  needs: UseNeeds,
): Text {
  const option = say`-c ${String(nCtx)}`;
  switch (by) {
    case "waiting":
      return say`${option}: in ${seconds(needs.patienceSeconds)} this machine reads ${count(tokens)} token[s], less than the ${count(needs.promptTokens)} required.`;
    case "probe":
      return say`${option}: how long more than ${count(tokens)} token[s] take[s|] is unknown, and ${count(needs.promptTokens)} are required. Probe deeper.`;
    case "recall":
      return verified
        ? say`${option}: recall was verified to ${count(tokens)} token[s], less than the ${count(needs.promptTokens)} required.`
        : say`${option}: recall was sufficient to ${count(tokens)} token[s] but not verified with repetitions; ${count(needs.promptTokens)} are required.`;
    case "context":
      return say`${option}: the server gave one request no more when it was measured; ${count(needs.promptTokens)} token[s] [is|are] required.`;
    default:
      return verified || !tried
        ? say`${option}: enough for ${count(needs.promptTokens)} token[s] and an answer of ${count(needs.answerTokens)}.`
        : say`${option}: enough for ${count(needs.promptTokens)} token[s] and an answer of ${count(needs.answerTokens)}; recall at this length was sufficient but not verified with repetitions.`;
  }
}

/** Most tokens that are read within so many seconds, or as far as the curve knows. */
function longestWithin(
  curve: DepthCurve,
  patience: number,
): { readonly by: "waiting" | "probe"; readonly tokens: number } | undefined {
  let low = 0;
  let high = 2 ** 21;
  let by: "waiting" | "probe" = "waiting";
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const prediction = predict(curve, { tokens: middle });
    if (prediction.known && prediction.seconds <= patience) {
      low = middle;
    } else {
      high = middle;
      by = prediction.known ? "waiting" : "probe";
    }
  }
  return low === 0 && by === "probe" ? undefined : { by, tokens: low };
}

/** The curve a ladder measured on its way: every span between two progress events. */
export const ladderCurve = (outcome: LadderOutcome, key: DepthCurve["key"]): DepthCurve | undefined =>
  ladderCurveOf(
    outcome.rungs.flatMap((rung) => rung.steps),
    key,
  );

export function ladderCurveOf(steps: readonly LadderStep[], key: DepthCurve["key"]): DepthCurve | undefined {
  const points = steps.flatMap((step) => step.points ?? []).toSorted((p, q) => p.depth - q.depth);
  if (points.length === 0) return undefined;
  const generation = steps
    .flatMap((step) =>
      step.generationTokensPerSecond === undefined
        ? []
        : [{ depth: step.tokens, tokensPerSecond: step.generationTokensPerSecond }],
    )
    .toSorted((p, q) => p.depth - q.depth);
  return { key, points, generation };
}
