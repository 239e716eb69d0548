import { dropToFit, type DropPlan } from "../tokens/dropToFit";
import type { FileKind } from "../files/fileKinds";
import { packFile } from "../tokens/pack";
import { isExact, type CountedFile } from "../tokens/tokenCount";
import type { GaugeReport } from "./gaugeReport";
import { judgement, judgedSpeed, patienceOf } from "./judgement";

/** What counting each file alone can miss of a prompt: pieces that merge across seams. */
const seamError = 0.001;
/** How far a header's tokens may be off when they are shared out by its length. */
const headerError = 0.2;

/**
 * The report for another choice of its files, without counting again: headers and seams are shared out, so the prompt is no longer
 * exact. For the choice that was counted it is the counted one: keep that report.
 */
export function reportWithout(report: GaugeReport, leftOut: ReadonlySet<string>): GaugeReport {
  const { acceptance: counted, tokens } = report;
  const before = new Set(report.leftOut);
  const share = packingShare(report);
  const files = tokens.files.filter(({ file }) => !leftOut.has(file.path));
  const packing = Math.round(files.reduce((sum, file) => sum + share(file), 0));
  const parts = {
    files: files.reduce((sum, file) => sum + file.tokens, 0),
    packing,
    template: counted.parts.template,
  };
  const all = Math.max(1, parts.files + parts.packing + parts.template);
  const same = before.size === leftOut.size && [...before].every((path) => leftOut.has(path));
  const moved = (headerError * Math.abs(packing - counted.parts.packing)) / all;
  const known = tokens.tokenizer.relativeError ?? 0;
  const relativeError = same && counted.exact ? undefined : Math.max(known, seamError + moved);
  const { limit, notes, server, memory, beside, second } = report;
  const { leftOut: _, second: __, ...rest } = report;
  return {
    ...rest,
    ...judgement({
      prompt: parts,
      ...(relativeError !== undefined && { relativeError }),
      ...{ limit, answerReserve: counted.answerReserve, notes, server, memory },
      ...(beside && { beside }),
      speed: judgedSpeed(report),
      ...patienceOf(report),
      ...(second !== undefined && { keeping: second.keeping }),
    }),
    ...(files.length < tokens.files.length && {
      leftOut: tokens.files.map(({ file }) => file.path).filter((path) => leftOut.has(path)),
    }),
  };
}

export interface ReportCandidate {
  readonly label: string;
  readonly path: string;
  readonly tokens: number;
  readonly kind?: FileKind;
}

/**
 * The smallest drop, among the files that are in the prompt, after which it takes at most `room` tokens: by default what
 * one request may hold, less the answer that was asked for. Undefined where nobody knows that.
 */
export function planDrop(
  report: GaugeReport,
  room = roomForPrompt(report),
): DropPlan<ReportCandidate> | undefined {
  const { promptTokens } = report.acceptance;
  if (room === undefined) return undefined;
  const out = new Set(report.leftOut);
  const share = packingShare(report);
  const candidates = report.tokens.files
    .filter(({ file }) => !out.has(file.path))
    .map((counted) => ({
      label: counted.file.label,
      path: counted.file.path,
      tokens: Math.max(0, counted.tokens + Math.floor(share(counted))),
      ...(counted.mark && { kind: counted.mark.kind }),
    }));
  // what is estimated must fit at its upper end, too
  const spread = isExact(report.tokens.tokenizer) ? seamError : (report.tokens.tokenizer.relativeError ?? 0);
  const budget = promptTokens <= room && report.acceptance.exact ? room : Math.floor(room / (1 + spread));
  return dropToFit(candidates, promptTokens, budget);
}

/** The server refuses a prompt that fills its context. */
export function roomForPrompt({
  acceptance: { nCtxPerSlot, answerReserve },
}: GaugeReport): number | undefined {
  return nCtxPerSlot === null ? undefined : Math.max(0, nCtxPerSlot - Math.max(1, answerReserve));
}

/** Tokens that are most likely read in the time the user has patience for; no limit where nobody knows one. */
export const roomInTime = ({ wait: { within } }: Pick<GaugeReport, "wait">): number =>
  within === undefined || within.atLeast ? Infinity : within.tokens;

/** Tokens of headers and seams that go with a file, shared out by the length of its header. */
function packingShare({
  acceptance: { parts },
  tokens,
  leftOut,
  pack,
}: GaugeReport): (file: CountedFile) => number {
  const out = new Set(leftOut);
  const length = ({ file }: CountedFile): number => {
    if (pack === "raw") return 1;
    const [header, , footer] = packFile(file.label, "", pack.format);
    return header.length + footer.length;
  };
  let all = 0;
  for (const file of tokens.files) if (!out.has(file.file.path)) all += length(file);
  if (all === 0) return () => 0;
  return (file) => (parts.packing * length(file)) / all;
}
