import { formatBytes, formatNumber, formatSeconds, formatText } from "../format";
import { known, valueOf, type Known } from "../known";
import type { DepthCurve } from "../prefill/depthCurve";
import { predict } from "../prefill/predict";
import { tokensWithin, type TokensWithin } from "../prefill/tokensWithin";
import { besideServer, shownVerdict } from "../report/besideServer";
import { planDrop, roomForPrompt } from "../report/fileChoice";
import type { GaugeReport } from "../report/gaugeReport";
import type { Situation } from "../report/situation";
import { say } from "../text";
import { shownValue } from "../shown";
import type { SlotProgress } from "../bench/slotProgress";
import type { FilesQuestion } from "./agentInput";

/** Files that are named unless more are asked for; a small model shall be able to read the answer. */
const fewFiles = 8;
const manyFiles = 100;
/** Characters of a file's name: a path of 300 would take half of the answer. */
const longestName = 96;
const longestSentence = 320;

/** The verdict on a folder, what it rests on, and what is largest in it. */
export function estimateAnswer(report: GaugeReport, details: boolean): string {
  const { verdict, tokens, memory, acceptance } = report;
  const largest = [...tokens.files].sort((a, b) => b.tokens - a.tokens);
  const budget = valueOf(memory);
  return lines([
    line(formatText(verdict.sentence)),
    exactness(report),
    ...verdict.reasons.slice(0, details ? 12 : 3).map((reason) => `- ${line(formatText(reason))}`),
    budget === undefined
      ? undefined
      : `Memory: ${formatBytes(budget.totalBytes)} (${budget.source}), ${shownVerdict(budget.verdict, report.beside)}.`,
    report.prefill.known ? undefined : `Wait: unknown. ${line(formatText(report.prefill.reason))}`,
    setupLine(report),
    `${counted(tokens.files.length, "file")}, ${formatNumber(tokens.skipped.length)} skipped. Largest:`,
    ...fileLines(
      largest.map(({ file, tokens: its }) => ({ label: file.label, tokens: its })),
      details,
    ),
    acceptance.accepted === false
      ? "Ask plan_to_fit with the same paths which files to leave out."
      : undefined,
  ]);
}

/** Which files to leave out; the shorter of both lists is the one to read. */
export function planAnswer(
  report: GaugeReport,
  details: boolean,
  { budgetTokens, budgetSeconds }: Pick<FilesQuestion, "budgetTokens" | "budgetSeconds"> = {},
): string {
  const { promptTokens, nCtxPerSlot, answerReserve } = report.acceptance;
  const inTime = budgetSeconds === undefined ? undefined : tokensInTime(report, budgetSeconds);
  if (inTime !== undefined && !inTime.known) {
    return lines([
      `How long reading takes is not known: ${line(formatText(inTime.reason))} Ask without budget_seconds.`,
      setupLine(report),
    ]);
  }
  const most = inTime === undefined || inTime.atLeast ? Infinity : inTime.tokens;
  const room = Math.min(budgetTokens ?? roomForPrompt(report) ?? Infinity, most);
  const plan = planDrop(report, room === Infinity ? undefined : room);
  if (plan === undefined) {
    return lines([
      `${formatNumber(promptTokens)} tokens. How many one request may hold is not known: pass budget_tokens, or start llama-server.`,
      setupLine(report),
    ]);
  }
  const aim =
    budgetSeconds !== undefined && room === most
      ? `${formatNumber(most)} tokens, which are most likely read in ${formatSeconds(budgetSeconds)}`
      : budgetTokens === undefined
        ? `${formatNumber(nCtxPerSlot ?? 0)} tokens per request, ${formatNumber(answerReserve)} of them kept for the answer`
        : `a budget of ${formatNumber(budgetTokens)} tokens`;
  switch (plan.kind) {
    case "fits":
      return lines([`Everything fits: ${formatNumber(promptTokens)} tokens, ${aim}.`, exactness(report)]);
    case "impossible":
      return lines([
        `Impossible: even without any of these files ${formatNumber(plan.tokensLeft)} tokens remain, for ${aim}.`,
      ]);
    case "drop": {
      const out = new Set(plan.files.map(({ path }) => path));
      const kept = report.tokens.files
        .filter(({ file }) => !out.has(file.path))
        .map(({ file, tokens }) => ({ label: file.label, tokens }));
      return lines([
        `Leave out ${formatNumber(out.size)} of ${counted(report.tokens.files.length, "file")}: ${formatNumber(promptTokens)} → ${formatNumber(plan.tokensLeft)} tokens, for ${aim}.`,
        exactness(report),
        ...(kept.length < out.size
          ? ["Keep only:", ...fileLines(kept, details)]
          : ["Leave out:", ...fileLines(plan.files, details)]),
      ]);
    }
  }
}

function tokensInTime({ curve, prefill }: GaugeReport, seconds: number): TokensWithin {
  if (curve !== undefined) return tokensWithin(curve, { seconds });
  return { known: false, reason: prefill.known ? say`No speed has been measured yet.` : prefill.reason };
}

/** What is known of the server now. @param progress of its slots, where it tells */
export function stateAnswer(situation: Situation, progress: readonly SlotProgress[] | undefined): string {
  const { server, memory, held, curve, model } = situation;
  const budget = valueOf(memory);
  const facts = valueOf(server)?.facts;
  const beside = facts && besideServer({ server: known(facts), memory, ...(held && { held }) });
  return lines([
    ...(server.known
      ? []
      : [`No server: ${line(formatText(server.why))} ${line(formatText(server.remedy))}`]),
    facts &&
      `Model ${name(facts.model.id)} on ${name(facts.url)}${facts.build === undefined ? "" : `, build ${name(facts.build)}`}.`,
    !facts && model.known
      ? `Chosen model: ${name(model.value.name ?? model.value.architecture)}.`
      : undefined,
    facts &&
      `${counted(facts.totalSlots, "slot")}; one request may hold ${formatNumber(facts.nCtxPerSlot)} tokens, prompt and answer together.${facts.sleeping ? " The server sleeps: the next request loads the model first." : ""}`,
    ...(progress ?? []).slice(0, 16).map(slotLine),
    budget &&
      `Memory: ${formatBytes(budget.totalBytes)} (${budget.source}), ${shownVerdict(budget.verdict, beside)}.`,
    beside && line(formatText(beside.text)),
    speedLine(situation, curve),
  ]);
}

function slotLine({ id, busy, promptTokens, processed, cached, generated }: SlotProgress): string {
  const held = Math.max(promptTokens, cached + processed) + generated;
  const now = !busy
    ? "idle"
    : generated > 0
      ? `answering, ${formatNumber(generated)} tokens so far`
      : "reading its prompt";
  return `Slot ${id}: ${now}; holds ${formatNumber(held)} tokens.`;
}

/** The measured speed at the ends of the curve, and what it is a figure of. */
function speedLine({ origin }: Situation, curve: Known<DepthCurve>): string {
  if (!curve.known) return `Speed: unknown. ${line(formatText(curve.why))}`;
  const waits = [4096, 32_768].flatMap((tokens) => {
    const wait = predict(curve.value, { tokens });
    return wait.known
      ? [
          `${formatNumber(tokens)} tokens in ${formatSeconds(wait.seconds)} (${formatSeconds(wait.lowSeconds)} – ${formatSeconds(wait.highSeconds)})`,
        ]
      : [];
  });
  const day =
    origin === undefined ? "" : `, measured ${new Date(origin.measuredAt).toISOString().slice(0, 10)}`;
  return waits.length === 0
    ? "Speed: measured, but not as deep as 4,096 tokens."
    : `Reading a prompt${day}: ${waits.join("; ")}.`;
}

function exactness({ acceptance, tokens }: GaugeReport): string {
  const { model, source } = tokens.tokenizer;
  if (acceptance.exact) return `Counted exactly with the tokenizer of ${name(model)} (${source}).`;
  const error = Math.max(0.001, acceptance.relativeError ?? 0) * 100;
  return `Counted to ± ${formatNumber(error, "en", error < 10 ? 1 : 0)} %.`;
}

function setupLine({ server, model }: GaugeReport): string | undefined {
  const facts = valueOf(server);
  if (facts !== undefined) return `Model ${name(facts.model.id)} on ${name(facts.url)}.`;
  return model.known
    ? `Model ${name(model.value.name)}; no server answers.`
    : `No server answers and no model is chosen.`;
}

function fileLines(
  files: readonly { readonly label: string; readonly tokens: number }[],
  details: boolean,
): readonly string[] {
  const shown = files.slice(0, details ? manyFiles : fewFiles);
  const rest = files.slice(shown.length);
  const left = rest.reduce((sum, { tokens }) => sum + tokens, 0);
  return [
    ...shown.map(({ label, tokens }) => `- ${name(label)}: ${formatNumber(tokens)}`),
    ...(rest.length === 0 ? [] : [`- and ${counted(rest.length, "more file")}: ${formatNumber(left)}`]),
  ];
}

const counted = (number: number, noun: string): string =>
  `${formatNumber(number)} ${noun}${number === 1 ? "" : "s"}`;

/** What others named: on one line, so that it cannot pass for a line of the answer. */
const name = (foreign: string): string => shownValue(foreign, longestName);
const line = (text: string): string => shownValue(text, longestSentence);

const lines = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== "").join("\n");
