import { bytes, count, say, seconds, tokensPerSecond, type Text } from "../text";
import type { ExplainedLog } from "./explainLog";
import type { QuotedLine } from "./logEvent";

/** A part of the explanation of a log for reading: a heading and its sentences. */
export interface ReportPart {
  readonly heading: Text;
  readonly lines: readonly Text[];
  /** The line of the log that it is about, from 1. */
  readonly line?: number;
  /** Lines of the log, as they are. */
  readonly quoted?: string;
}

const quotedText = (around: readonly QuotedLine[], before: number): string =>
  around.map(({ line, text }) => `${String(line + before)}  ${text}`).join("\n");

/**
 * The explanation of a log in words: failures first, then what was set up and how fast it was.
 * @param before lines of the file in front of the part that was explained
 */
export function logReport({ facts, totals, events }: ExplainedLog, before = 0): ReportPart[] {
  const parts: ReportPart[] = events.map(({ line, message, cause, remedy, around }) => ({
    heading: say`Line ${String(line + before)}: ${message}`,
    line: line + before,
    lines: [cause, remedy],
    ...(around !== undefined && { quoted: quotedText(around, before) }),
  }));
  const setup: Text[] = [];
  const { model, slots, contexts, offloadedLayers } = facts;
  if (facts.build !== undefined) setup.push(say`Build ${facts.build}`);
  if (model !== undefined)
    setup.push(
      say`Model ${model.name ?? model.path ?? ""} (${model.architecture ?? ""}, ${model.quantisation ?? ""})`,
    );
  if (offloadedLayers !== undefined) {
    setup.push(
      say`${count(offloadedLayers.offloaded)} of ${count(offloadedLayers.total)} layer[s] on the GPU`,
    );
  }
  const [context] = contexts;
  if (context?.nCtx !== undefined) setup.push(say`Context of ${count(context.nCtx)} token[s]`);
  if (slots?.nCtx !== undefined)
    setup.push(
      say`${count(slots.count)} slot[s], one request may hold fewer than ${count(slots.nCtx)} token[s]`,
    );
  const sizes: readonly (readonly [number, (size: number) => Text])[] = [
    [totals.weightsBytes, (size) => say`Weights ${bytes(size)}`],
    [totals.kvBytes, (size) => say`KV cache ${bytes(size)}`],
    [totals.recurrentBytes, (size) => say`Recurrent state ${bytes(size)}`],
    [totals.computeBytes, (size) => say`Compute buffers ${bytes(size)}`],
    [totals.outputBytes, (size) => say`Output buffers ${bytes(size)}`],
  ];
  for (const [size, line] of sizes) if (size > 0) setup.push(line(size));
  if (setup.length > 0) parts.push({ heading: say`Setup`, lines: setup });
  const requests = facts.requests.slice(-20).flatMap((request) => {
    const { task = 0, promptTokens, promptSeconds, cachedTokens = 0 } = request;
    if (promptTokens === undefined || promptSeconds === undefined || promptSeconds <= 0) return [];
    return [
      say`Request ${String(task)}: ${count(promptTokens)} token[s] read in ${seconds(promptSeconds)} (${tokensPerSecond(promptTokens / promptSeconds)}), ${count(cachedTokens)} from the cache`,
    ];
  });
  if (requests.length > 0) parts.push({ heading: say`Requests`, lines: requests });
  return parts;
}
