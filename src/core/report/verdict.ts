import type { AcceptanceReport } from "../acceptance/acceptanceReport";
import type { ServerFacts } from "../acceptance/serverFacts";
import { valueOf, type Known } from "../known";
import type { MemoryReport } from "../memory/budget/memoryReport";
import type { Prediction } from "../prefill/prediction";
import { count, say, seconds, tokensPerSecond, type Text } from "../text";
import type { Verdict, VerdictKind } from "./gaugeReport";

export interface VerdictInputs {
  readonly acceptance: AcceptanceReport;
  readonly server: Known<ServerFacts>;
  readonly memory: Known<MemoryReport>;
  readonly prefill: Prediction;
}

/** The worst answer decides; a running server has proven that the machine holds it, whatever a formula says. */
export function judge(inputs: VerdictInputs): Verdict {
  const kind = verdictKind(inputs);
  return {
    kind,
    sentence: sentence(kind, inputs),
    reasons: [...inputs.acceptance.reasons, ...memoryReasons(inputs)],
    remedies: remedies(kind, inputs),
  };
}

function verdictKind({ acceptance, server, memory }: VerdictInputs): VerdictKind {
  const held = server.known ? "fits" : (valueOf(memory)?.verdict ?? "unknown");
  if (acceptance.accepted === false) return "exceedsContext";
  if (held === "exceeds") return "exceedsMemory";
  if (acceptance.accepted === null) return "unknown";
  const cramped = acceptance.answerRoom !== null && acceptance.answerRoom < acceptance.answerReserve;
  return cramped || held === "tight" ? "tight" : "fits";
}

function sentence(kind: VerdictKind, { acceptance, prefill }: VerdictInputs): Text {
  const prompt = acceptance.exact
    ? say`${count(acceptance.promptTokens)}`
    : say`≈ ${count(acceptance.promptTokens)}`;
  const nCtx = acceptance.nCtxPerSlot;
  if (kind === "unknown" || nCtx === null) return say`${prompt} token[s]. Whether they fit is not known yet.`;
  const used = say`${prompt} of ${count(nCtx)} token[s]`;
  const wait = waitText(prefill);
  switch (kind) {
    case "fits":
      return say`Fits. ${used}${wait}`;
    case "tight":
      return say`Tight. ${used}${wait}`;
    case "exceedsContext":
      return say`Does not fit. ${used}: ${count(acceptance.promptTokens - nCtx + 1)} too many.`;
    case "exceedsMemory":
      return say`Not enough memory. ${used}`;
  }
}

function waitText(prefill: Prediction): Text {
  if (!prefill.known) return say``;
  const first = say` · ≈ ${seconds(prefill.seconds)} to first token (${seconds(prefill.lowSeconds)} – ${seconds(prefill.highSeconds)})`;
  const speed = prefill.generationTokensPerSecond;
  return speed === undefined ? first : say`${first} · ${tokensPerSecond(speed)} after`;
}

function memoryReasons({ server, memory }: VerdictInputs): readonly Text[] {
  return server.known ? [] : (valueOf(memory)?.warnings ?? []).map((warning) => warning.message);
}

function remedies(
  kind: VerdictKind,
  { acceptance, server, memory, prefill }: VerdictInputs,
): readonly Text[] {
  const steps: Text[] = [];
  if (kind === "exceedsContext" || kind === "tight") {
    steps.push(say`Exclude files, or start llama-server with a larger -c (or fewer -np slots).`);
  }
  if (kind === "exceedsMemory")
    steps.push(say`Use a smaller -c, a quantised KV cache (-ctk/-ctv q8_0) or offload less.`);
  if (!server.known && acceptance.nCtxPerSlot === null) steps.push(server.remedy);
  if (!memory.known && !server.known) steps.push(memory.remedy);
  if (!prefill.known && kind !== "exceedsContext") steps.push(prefill.reason);
  return steps;
}
