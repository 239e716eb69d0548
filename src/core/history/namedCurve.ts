import { importCurves } from "./importCurves";
import { readMonitor } from "./historyFields";
import { known, unknown, type Known } from "../known";
import { compareSetup, type SetupComparison } from "../llamaBench/speedSetup";
import { agedCurve, clockMs, measuredTime } from "../prefill/curveAge";
import { parseDepthCurve, type CurveKey, type DepthCurve } from "../prefill/depthCurve";
import { spreadOfDisturbance } from "../monitor/disturbed";
import type { MonitorReport } from "../monitor/monitorSample";
import { say, type Text } from "../text";
import { Wire } from "../wire";
import { UserError } from "../userError";

/** What a file that was named as a curve holds. */
export interface CurveFile {
  readonly name: string;
  /** One for each setup in it. */
  readonly curves: readonly DepthCurve[];
  /** The file's own date, milliseconds since the epoch. */
  readonly modifiedAt: number;
  /** The watch saw nothing else running while it was measured. */
  readonly undisturbed: boolean;
  /** What the watch saw while it was measured; absent where nobody kept one. */
  readonly monitor?: MonitorReport;
}

/** A curve that was named, held against the setup it is to predict for. */
export interface NamedCurve {
  readonly curve: Known<DepthCurve>;
  /** same: of this setup; assumed: it does not tell all of its own; other: of another one, taken all the same. */
  readonly setup: "same" | "assumed" | "other";
  /** What is to be said about it, a sentence each. */
  readonly notes: readonly Text[];
}

/** Of `CURVE.json`, the output of `probe --json`, or what another tool printed. `file`: its path. */
export function curveFileOf(file: string, text: string, modifiedAt: number): CurveFile {
  const found = { name: file.split(/[\\/]/).at(-1) ?? file, modifiedAt, undisturbed: false };
  const document = jsonOf(text);
  if (document === undefined || Array.isArray(document))
    return { ...found, curves: importedFrom(text, file) };
  if ("curve" in document) {
    const monitor = new Wire(document, "").at("monitor").ifFits(readMonitor);
    return {
      ...found,
      curves: [parseDepthCurve(document["curve"])],
      undisturbed: monitor?.verdict === "clean",
      ...(monitor && { monitor }),
    };
  }
  const isCurve = "points" in document || "key" in document;
  return { ...found, curves: isCurve ? [parseDepthCurve(document)] : importedFrom(text, file) };
}

function importedFrom(text: string, file: string): readonly DepthCurve[] {
  const curves = importCurves(text).filter(({ points }) => points.length > 0);
  if (curves.length > 0) return curves;
  throw new UserError(
    "invalidInput",
    say`${file} holds no prefill measurement.`,
    say`Specify the output of \`llama-gauge probe --json\` or of a benchmark.`,
  );
}

function jsonOf(text: string): Readonly<Record<string, unknown>> | readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
    return {};
  } catch {
    return jsonWithNaN(text);
  }
}

/** Python writes NaN and Infinity, which are no JSON: whoever reads the value says which it was. */
function jsonWithNaN(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const strict = text.replace(/([:[,]\s*)(NaN|-?Infinity)(?=\s*[,}\]])/g, '$1"$2"');
  if (strict === text) return undefined;
  try {
    return JSON.parse(strict) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

/** The file's curve for a setup; without a setup, the only one it has. `any`: also one of another setup, as such. */
export function namedCurve(
  file: CurveFile,
  setup: CurveKey | undefined,
  { any, now }: { readonly any: boolean; readonly now: number },
): NamedCurve {
  const judged = file.curves.map((curve) => ({
    curve,
    ...(setup === undefined ? { differs: [], untold: [] } : compareSetup(curve.key, setup)),
  }));
  const fitting = judged.filter(({ differs }) => differs.length === 0);
  const [best] = (fitting.length > 0 ? fitting : judged).toSorted(
    (p, q) => p.differs.length - q.differs.length,
  );
  if (best === undefined) throw new Error("a curve file without a curve");
  if (setup === undefined && judged.length > 1 && !any) return several(file);
  const other = best.differs.length > 0;
  if (other && !any) return ofAnother(file, best);
  const measuredAt = measuredTime(best.curve);
  const dated = measuredAt !== undefined && measuredAt <= now + clockMs;
  const assumed = setup !== undefined && !other && best.untold.length > 0;
  const { name, undisturbed } = file;
  const spread = Math.max(best.curve.spread ?? 0, spreadOfDisturbance(file.monitor));
  return {
    curve: known(agedCurve({ ...best.curve, spread }, { now, measuredAt, sameBuild: !other, undisturbed })),
    setup: other ? "other" : assumed ? "assumed" : "same",
    notes: [
      ...(other ? [say`The wait is of another setup: ${joined(best.differs)}.`] : []),
      ...(assumed
        ? [say`${name} does not tell its ${joined(best.untold)}; it is taken to be of this setup.`]
        : []),
      ...(dated ? [] : [undatedText(file, measuredAt)]),
    ],
  };
}

function undatedText({ name, modifiedAt }: CurveFile, measuredAt: number | undefined): Text {
  return measuredAt === undefined
    ? say`${name} does not tell when it was measured (the file is of ${dayOf(modifiedAt)}), so the interval is that of another day.`
    : say`${name} was measured on ${dayOf(measuredAt)}, it says, which is still to come; the interval is that of another day.`;
}

function ofAnother({ name }: CurveFile, { differs }: SetupComparison): NamedCurve {
  return {
    curve: unknown(
      say`${name} was measured on another setup: ${joined(differs)}.`,
      say`Run a depth probe on this one, or use it all the same with --any-curve.`,
    ),
    setup: "other",
    notes: [],
  };
}

function several({ name, curves }: CurveFile): NamedCurve {
  const keys = curves.map(({ key }) => `${key.model} ${key.flags}`.trim()).join("; ");
  return {
    curve: unknown(
      say`${name} holds curves of several setups: ${keys}.`,
      say`Say which one is meant with llama-server's arguments after --.`,
    ),
    setup: "other",
    notes: [],
  };
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const joined = ([first, ...rest]: readonly Text[]): Text =>
  rest.reduce((all, one) => say`${all}, ${one}`, first ?? say``);
