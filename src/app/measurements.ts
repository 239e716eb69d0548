import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import path from "node:path";
import {
  assumedKey,
  missingFields,
  missingOf,
  rememberedAnswer,
  type ImportAnswer,
  type MissingField,
} from "../core/history/assumption";
import { compareWithBaseline, type BaselineComparison } from "../core/history/baseline";
import { historyAs, type HistoryFormat } from "../core/history/exportHistory";
import { historyVersion, type HistoryRecord } from "../core/history/historyRecord";
import { clockMs, measuredTime } from "../core/prefill/curveAge";
import { curveFileOf, type CurveFile } from "../core/history/namedCurve";
import { importCurves } from "../core/history/importCurves";
import type { CurveKey } from "../core/prefill/depthCurve";
import { bytes, say } from "../core/text";
import { UserError } from "../core/userError";
import { readRegular, UnreadableError } from "../node/reading/regularFile";
import { writeWhole } from "../node/writing/wholeFile";
import type { HistoryStore } from "./historyStore";

/** Outputs of benches are far smaller. */
const maxImportBytes = 64 * 2 ** 20;

/** Marks a run as what later ones are compared with. */
export async function recordBaseline(
  history: HistoryStore,
  runId: string,
  label: string,
  signal: AbortSignal,
): Promise<HistoryRecord> {
  const run = await runOf(history, runId, signal);
  const { request: _, comparison: __, ...facts } = run;
  const baseline: HistoryRecord = { ...facts, id: randomUUID(), kind: "baseline", label };
  await history.append(baseline);
  return baseline;
}

/** A run beside a baseline. */
export async function besideBaseline(
  history: HistoryStore,
  { baselineId, runId }: { readonly baselineId: string; readonly runId: string },
  signal: AbortSignal,
): Promise<BaselineComparison> {
  const [baseline, run] = await Promise.all([
    runOf(history, baselineId, signal),
    runOf(history, runId, signal),
  ]);
  const found = compareWithBaseline(baseline, run);
  if (found !== undefined) return found;
  throw new UserError(
    "invalidInput",
    say`One of the two has no measured curve.`,
    say`Run a depth probe, then compare again.`,
  );
}

async function runOf(history: HistoryStore, id: string, signal: AbortSignal): Promise<HistoryRecord> {
  const { records } = await history.read(signal);
  const found = records.findLast((record) => record.id === id);
  if (found !== undefined) return found;
  throw new UserError(
    "notFound",
    say`The history no longer has this run.`,
    say`Run a depth probe, then try again.`,
  );
}

/** What is to be asked before curves are imported: nothing where the same was answered before. */
export interface ImportQuestion {
  readonly missing: readonly MissingField[];
  /** The answer of before. */
  readonly remembered?: boolean;
}

/** @param setup the one that the curves may be of */
export async function importQuestion(
  history: HistoryStore,
  file: string,
  setup: CurveKey,
  signal: AbortSignal,
): Promise<ImportQuestion> {
  const { text } = await readText(file, signal);
  const curves = importCurves(text);
  const missing = missingFields.filter((field) =>
    curves.some(({ key }) => missingOf(key, setup).includes(field)),
  );
  const { records } = await history.read(signal);
  const remembered = rememberedAnswer(records, curves, setup);
  return { missing, ...(remembered !== undefined && { remembered }) };
}

/**
 * Writes the curves in a bench's output down, each with the options and the time it tells. Under their own keys they are
 * only shown; where the user says that they were measured on a setup, it fills in what they do not tell.
 */
export async function importRuns(
  history: HistoryStore,
  file: string,
  answer: ImportAnswer | undefined,
  signal: AbortSignal,
): Promise<readonly HistoryRecord[]> {
  const { text, modifiedAt } = await readText(file, signal);
  const records = importCurves(text).map((curve): HistoryRecord => {
    const at = measuredTime(curve);
    const known = at !== undefined && at <= Date.now() + clockMs;
    const { key, assumed } =
      answer === undefined ? { key: curve.key, assumed: undefined } : assumedKey(curve.key, answer);
    return {
      version: historyVersion,
      id: randomUUID(),
      kind: "import",
      at: known ? at : Math.min(modifiedAt, Date.now()),
      ...(!known && { dated: "file" }),
      tool: path.basename(file),
      label: path.basename(file),
      curve: { ...curve, key },
      ...(assumed && { assumed }),
    };
  });
  for (const record of records) await history.append(record);
  return records;
}

/** Takes an import to be of a setup after all, or of another one; its new line takes the place of the old. */
export async function changeAssumption(
  history: HistoryStore,
  runId: string,
  answer: ImportAnswer,
  signal: AbortSignal,
): Promise<HistoryRecord> {
  const { assumed: before, ...run } = await runOf(history, runId, signal);
  if (before === undefined || run.curve === undefined) {
    throw new UserError(
      "invalidInput",
      say`Nothing was assumed of this run.`,
      say`Choose an import that does not tell its setup.`,
    );
  }
  const { key, assumed } = assumedKey(before.told, answer);
  const changed: HistoryRecord = { ...run, curve: { ...run.curve, key }, ...(assumed && { assumed }) };
  await history.append(changed);
  return changed;
}

/** What a file that is named as a curve holds. */
export async function readCurveFile(file: string, signal: AbortSignal): Promise<CurveFile> {
  const { text, modifiedAt } = await readText(file, signal);
  return curveFileOf(file, text, modifiedAt);
}

/** A file's text and when it was written last, milliseconds since the epoch. */
async function readText(
  file: string,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly modifiedAt: number }> {
  try {
    const text = decoded(await readRegular(file, { most: maxImportBytes, pipes: true, signal }));
    return { text, modifiedAt: (await stat(file)).mtimeMs };
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UnreadableError && cause.code === "TOO_LARGE") {
      throw new UserError(
        "tooLarge",
        say`${file} is larger than ${bytes(maxImportBytes)}, which no benchmark output is.`,
        say`Choose the output of a benchmark.`,
      );
    }
    throw new UserError("notFound", say`${file} cannot be read.`, say`Choose another file.`, { cause });
  }
}

/** PowerShell's `>` writes UTF-16, and some programs begin UTF-8 with a mark. */
function decoded(bytes: Buffer): string {
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(wide ? "utf-16le" : "utf-8").decode(bytes);
}

/** Writes the whole history in another format: all of it or nothing. */
export async function exportHistory(
  history: HistoryStore,
  format: HistoryFormat,
  file: string,
  signal: AbortSignal,
): Promise<number> {
  const { records } = await history.readAll(signal);
  try {
    await writeWhole(file, historyAs(format, records), signal);
  } catch (cause) {
    signal.throwIfAborted();
    throw new UserError("outsideFailed", say`${file} cannot be written.`, say`Choose another location.`, {
      cause,
    });
  }
  return records.length;
}
