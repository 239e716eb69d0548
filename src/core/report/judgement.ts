import { acceptance, type RequestLimit } from "../acceptance/acceptance";
import type { PromptParts } from "../acceptance/acceptanceReport";
import type { ServerFacts } from "../acceptance/serverFacts";
import { valueOf, type Known } from "../known";
import type { MemoryReport } from "../memory/budget/memoryReport";
import type { DepthCurve } from "../prefill/depthCurve";
import { predict } from "../prefill/predict";
import { secondQuestion, type PromptKeeping } from "../prefill/secondQuestion";
import type { Text } from "../text";
import type { BesideServer } from "./besideServer";
import type { GaugeReport } from "./gaugeReport";
import { judge } from "./verdict";
import { waitOf } from "./wait";

/** A prompt, and everything it is held against. */
export interface JudgementInput {
  readonly prompt: PromptParts;
  /** Relative half-width of an estimated count; absent where the count is exact. */
  readonly relativeError?: number;
  readonly limit: Known<RequestLimit>;
  /** Tokens to keep for the answer. */
  readonly answerReserve: number;
  /** What is to be said beside the rule of acceptance. */
  readonly notes: readonly Text[];
  readonly server: Known<ServerFacts>;
  readonly memory: Known<MemoryReport>;
  readonly beside?: BesideServer;
  /** What was measured of the setup, or why there is no prediction. */
  readonly speed: DepthCurve | { readonly unmeasured: Text };
  /** Seconds the user would wait for the first token; absent or 0: any time. */
  readonly patienceSeconds?: number;
  /** How the server keeps a prompt; absent where the model is not known. */
  readonly keeping?: PromptKeeping;
}

export type Judgement = Pick<
  GaugeReport,
  "acceptance" | "memory" | "beside" | "prefill" | "wait" | "curve" | "second" | "limit" | "notes" | "verdict"
>;

/** The part of a report that follows from the rest: acceptance, wait, second question and verdict. */
export function judgement(input: JudgementInput): Judgement {
  const { prompt, relativeError, limit, answerReserve, notes, server, memory, beside, keeping } = input;
  const ruled = acceptance({
    parts: prompt,
    ...(relativeError !== undefined && { relativeError }),
    limit,
    answerReserve,
  });
  const accepted = { ...ruled, reasons: [...ruled.reasons, ...notes] };
  const tokens = accepted.promptTokens;
  const curve = "unmeasured" in input.speed ? undefined : input.speed;
  const prefill =
    "unmeasured" in input.speed
      ? ({ known: false, reason: input.speed.unmeasured } as const)
      : predict(input.speed, { tokens });
  const { patienceSeconds } = input;
  const build = valueOf(server)?.build;
  const wait = waitOf({
    acceptance: accepted,
    prefill,
    ...(curve && { curve }),
    ...(patienceSeconds !== undefined && { patienceSeconds }),
    ...(build !== undefined && { build }),
  });
  return {
    acceptance: accepted,
    memory,
    ...(beside && { beside }),
    prefill,
    wait,
    ...(curve && { curve }),
    ...(curve && keeping && { second: secondQuestion(keeping, curve, tokens) }),
    limit,
    notes,
    verdict: judge({ acceptance: accepted, limit, server, memory, ...(beside && { beside }), prefill, wait }),
  };
}

/** What speed a report was judged by. */
export function judgedSpeed({
  curve,
  prefill,
}: Pick<GaugeReport, "curve" | "prefill">): JudgementInput["speed"] {
  if (curve !== undefined) return curve;
  if (prefill.known) throw new Error("a prediction without a curve");
  return { unmeasured: prefill.reason };
}

/** What a report's user would wait. */
export function patienceOf({ wait }: Pick<GaugeReport, "wait">): Pick<JudgementInput, "patienceSeconds"> {
  const { patienceSeconds } = wait;
  return patienceSeconds === undefined ? {} : { patienceSeconds };
}
