import type { RequestLimit } from "../acceptance/acceptance";
import type { AcceptanceReport } from "../acceptance/acceptanceReport";
import type { ServerFacts } from "../acceptance/serverFacts";
import { valueOf, type Known } from "../known";
import type { MemoryReport } from "../memory/budget/memoryReport";
import type { Prediction } from "../prefill/prediction";
import { count, say, seconds, tokensPerSecond, type Text } from "../text";
import type { BesideServer } from "./besideServer";
import type { Verdict, VerdictKind } from "./gaugeReport";
import type { Wait } from "./wait";

export interface VerdictInputs {
  readonly acceptance: AcceptanceReport;
  readonly limit: Known<RequestLimit>;
  readonly server: Known<ServerFacts>;
  readonly memory: Known<MemoryReport>;
  readonly beside?: BesideServer;
  readonly prefill: Prediction;
  readonly wait: Wait;
}

/** What a surface colours: nothing wrong, take care, it fails, nobody knows. */
export type VerdictSeverity = "good" | "care" | "bad" | "open";

const severities: Readonly<Record<VerdictKind, VerdictSeverity>> = {
  fits: "good",
  slow: "care",
  tight: "care",
  exceedsContext: "bad",
  exceedsMemory: "bad",
  unknown: "open",
};

export const severityOf = ({ kind }: Pick<Verdict, "kind">): VerdictSeverity => severities[kind];

/** The worst answer decides; a running server has proven that its machine holds it: then too little is tight. */
export function judge(inputs: VerdictInputs): Verdict {
  const kind = verdictKind(inputs);
  return {
    kind,
    sentence: sentence(kind, inputs),
    reasons: [...inputs.acceptance.reasons, ...memoryReasons(inputs), ...waitReasons(kind, inputs)],
    remedies: remedies(kind, inputs),
  };
}

function verdictKind({ acceptance, server, memory, beside, wait }: VerdictInputs): VerdictKind {
  const held = server.known ? (beside?.verdict ?? "fits") : (valueOf(memory)?.verdict ?? "unknown");
  if (acceptance.accepted === false) return "exceedsContext";
  if (held === "exceeds") return "exceedsMemory";
  if (acceptance.accepted === null) return "unknown";
  if (isCramped(acceptance) || held === "tight") return "tight";
  return wait.beyondPatience === true ? "slow" : "fits";
}

const isCramped = ({ answerRoom, answerReserve }: AcceptanceReport): boolean =>
  answerRoom !== null && answerRoom < answerReserve;

function sentence(kind: VerdictKind, { acceptance, prefill }: VerdictInputs): Text {
  const prompt = acceptance.exact
    ? say`${count(acceptance.promptTokens)}`
    : say`≈ ${count(acceptance.promptTokens)}`;
  const nCtx = acceptance.nCtxPerSlot;
  if (kind === "unknown" || nCtx === null) return say`${prompt} token[s]. Whether they fit is not known yet.`;
  const used = say`${prompt} of ${count(nCtx)} token[s]`;
  const wait = waitText(prefill);
  if (kind === "slow" && prefill.known) return slowSentence(used, prefill);
  switch (kind) {
    case "fits":
    case "slow":
      return say`Fits. ${used}${wait}`;
    case "tight":
      return say`Tight. ${used}${wait}`;
    case "exceedsContext":
      return say`Does not fit. ${used}: ${count(acceptance.promptTokens - nCtx + 1)} too many.`;
    case "exceedsMemory":
      return say`Not enough memory. ${used}`;
  }
}

function slowSentence(used: Text, prefill: Prediction & { readonly known: true }): Text {
  const { seconds: middle, lowSeconds, highSeconds, generationTokensPerSecond: speed } = prefill;
  const late = say`Fits, but ${seconds(middle)} to the first token (${seconds(lowSeconds)} – ${seconds(highSeconds)}). ${used}`;
  return speed === undefined ? late : say`${late} · ${tokensPerSecond(speed)} after`;
}

/** Nothing where it would not be read at all. */
function waitReasons(
  kind: VerdictKind,
  { wait: { patienceSeconds, beyondPatience, givingUp, total }, prefill }: VerdictInputs,
): readonly Text[] {
  if (!prefill.known || kind === "exceedsContext" || kind === "exceedsMemory") return [];
  const late =
    patienceSeconds !== undefined && beyondPatience === true
      ? [
          say`The first token comes after ${seconds(prefill.seconds)}, later than the ${seconds(patienceSeconds)} you would wait (llamaGauge.patienceSeconds).`,
        ]
      : [];
  if (givingUp === undefined) return late;
  const names = givingUp.clients.map((each) => `${each.client} (${String(each.seconds)} s)`).join(", ");
  const { lowSeconds } = (givingUp.before === "answer" ? total : undefined) ?? prefill;
  return [
    ...late,
    givingUp.before === "answer"
      ? say`Stream the answer: without streaming nothing arrives for at least ${seconds(lowSeconds)}, and by default these clients give up earlier: ${names}.`
      : say`Nothing arrives for at least ${seconds(lowSeconds)}, and by default these clients give up earlier: ${names}.`,
  ];
}

function waitText(prefill: Prediction): Text {
  if (!prefill.known) return say``;
  const first = say` · ≈ ${seconds(prefill.seconds)} to first token (${seconds(prefill.lowSeconds)} – ${seconds(prefill.highSeconds)})`;
  const speed = prefill.generationTokensPerSecond;
  return speed === undefined ? first : say`${first} · ${tokensPerSecond(speed)} after`;
}

function memoryReasons({ server, memory, beside }: VerdictInputs): readonly Text[] {
  if (beside !== undefined) return [beside.text];
  return server.known ? [] : (valueOf(memory)?.warnings ?? []).map((warning) => warning.message);
}

const largerContext = say`Exclude files, or start llama-server with a larger -c (or fewer -np slots).`;
const lessMemory = say`Use a smaller -c, a quantised KV cache (-ctk/-ctv q8_0) or offload less.`;
const general: Readonly<Partial<Record<VerdictKind, Text>>> = {
  exceedsContext: largerContext,
  tight: largerContext,
  exceedsMemory: lessMemory,
  slow: say`Exclude files to wait less.`,
};

const beyondTraining = (trained: number): Text =>
  say`Exclude files: the model was trained for ${count(trained)} token[s], and a larger -c does not give one request more.`;

/** What is left to say beside concrete changes. */
export function otherRemedies({ kind, remedies: all }: Verdict, concrete: boolean): readonly Text[] {
  const told = [general[kind]?.text, lessMemory.text, beyondTraining(0).text];
  return concrete ? all.filter(({ text }) => !told.includes(text)) : all;
}

function remedies(
  kind: VerdictKind,
  { acceptance, limit, server, memory, prefill }: VerdictInputs,
): readonly Text[] {
  const steps: Text[] = [];
  const trained = valueOf(limit)?.trainingContext ?? 0;
  const beyond = kind === "exceedsContext" && trained > 0 && acceptance.promptTokens >= trained;
  const memoryOnly = kind === "tight" && !isCramped(acceptance);
  const first = beyond ? beyondTraining(trained) : memoryOnly ? lessMemory : general[kind];
  if (first !== undefined) steps.push(first);
  if (!server.known && acceptance.nCtxPerSlot === null) steps.push(server.remedy);
  if (!memory.known && !server.known) steps.push(memory.remedy);
  if (!prefill.known && kind !== "exceedsContext") steps.push(prefill.reason);
  return steps;
}
