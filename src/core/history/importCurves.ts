import { ledgerOf } from "../conversation/ledger";
import { logCurves } from "../conversation/logCurve";
import type { CurvePoint, DepthCurve, GenerationPoint } from "../prefill/depthCurve";
import { say } from "../text";
import { UserError } from "../userError";
import { curvesOf } from "../llamaBench/benchCurve";
import { jsonObjects } from "../llamaBench/jsonObjects";
import { parseLlamaBench, speedOf } from "../llamaBench/parseLlamaBench";
import { markdownTables } from "../llamaBench/textTables";
import type { TableRow } from "../llamaBench/textTables";
import { ownValue } from "../ownValue";

/**
 * Curves in the output of another tool: llama-bench (any format), llama-sweep-bench and llama-batched-bench
 * (Markdown, JSONL), llama-benchy (JSON, Markdown), or in the log of a llama-server. Fails with `invalidInput` when nothing
 * in it is a measurement.
 */
export function importCurves(text: string): readonly DepthCurve[] {
  const curves = readers.map((read) => read(text)).find((found) => found.length > 0);
  if (curves === undefined) {
    throw new UserError(
      "invalidInput",
      say`This text contains no measurements.`,
      say`Import the output of llama-bench, llama-sweep-bench, llama-batched-bench or llama-benchy, or the log of a llama-server that has read long prompts.`,
    );
  }
  return curves;
}

const readers: readonly ((text: string) => readonly DepthCurve[])[] = [
  fromSweep,
  fromBenchy,
  (text) => curvesOf(parseLlamaBench(text).rows),
  (text) => logCurves(ledgerOf(text)),
];

/**
 * `|PP|TG|N_KV|T_PP s|…`: each row prefills PP tokens behind N_KV. With a column B (llama-batched-bench) a row is a whole
 * cold prompt of PP tokens, and only rows of one sequence count.
 */
function fromSweep(text: string): readonly DepthCurve[] {
  const points: CurvePoint[] = [];
  const generation: GenerationPoint[] = [];
  const rows = [...markdownTables(text).rows, ...jsonObjects(text).objects.map(sweepFields)];
  for (const row of rows) {
    const tokens = Number(row["PP"]);
    const seconds = Number(row["T_PP s"]);
    if (!(tokens > 0) || !(seconds > 0)) continue;
    const batched = row["B"] !== undefined && row["B"] !== "";
    if (batched && Number(row["B"]) !== 1) continue;
    const depth = batched ? 0 : Number(row["N_KV"]);
    if (!Number.isFinite(depth)) continue;
    points.push({ depth, tokens, seconds });
    const speed = Number(row["S_TG t/s"]);
    if (speed > 0) generation.push({ depth: batched ? tokens : depth, tokensPerSecond: speed });
  }
  return points.length === 0 ? [] : [curve("", points, generation)];
}

function sweepFields(object: Readonly<Record<string, unknown>>): TableRow {
  const text = (name: string): string => {
    const value = ownValue(object, name);
    return typeof value === "number" ? String(value) : "";
  };
  return {
    PP: text("pp"),
    TG: text("tg"),
    N_KV: text("n_kv"),
    "T_PP s": text("t_pp"),
    "S_TG t/s": text("speed_tg"),
    B: text("pl"),
  };
}

/** llama-benchy counts a cold prompt from its start, unless it loaded the context into the prefix cache before. */
function fromBenchy(text: string): readonly DepthCurve[] {
  const [report] = jsonObjects(text).objects.filter((object) => Array.isArray(object["benchmarks"]));
  return report === undefined ? fromBenchyTable(text) : fromBenchyReport(report);
}

function fromBenchyReport(report: Readonly<Record<string, unknown>>): readonly DepthCurve[] {
  const points: CurvePoint[] = [];
  const generation: GenerationPoint[] = [];
  const caching = report["prefix_caching_enabled"] === true;
  for (const run of report["benchmarks"] as readonly unknown[]) {
    if (typeof run !== "object" || run === null) continue;
    const fields = run as Readonly<Record<string, unknown>>;
    if (fields["concurrency"] !== undefined && fields["concurrency"] !== 1) continue;
    const context = Number(fields["context_size"] ?? 0);
    const prompt = Number(fields["prompt_size"] ?? 0);
    const loading = fields["is_context_prefill_phase"] === true;
    const end = loading ? context : context + prompt;
    const depth = !loading && caching ? context : 0;
    for (const speed of speeds(fields["pp_throughput"])) {
      if (end > depth) points.push({ depth, tokens: end - depth, seconds: (end - depth) / speed });
    }
    for (const speed of speeds(fields["tg_throughput"]))
      generation.push({ depth: end, tokensPerSecond: speed });
  }
  const model = report["model"];
  return points.length === 0 ? [] : [curve(typeof model === "string" ? model : "", points, generation)];
}

function speeds(metric: unknown): readonly number[] {
  if (typeof metric !== "object" || metric === null) return [];
  const { values, mean } = metric as { readonly values?: unknown; readonly mean?: unknown };
  const found = Array.isArray(values) && values.length > 0 ? (values as readonly unknown[]) : [mean];
  return found.filter((value): value is number => typeof value === "number" && value > 0);
}

function fromBenchyTable(text: string): readonly DepthCurve[] {
  const rows = markdownTables(text).rows.filter((row) => "ttfr (ms)" in row);
  const caching = rows.some((row) => row["test"]?.startsWith("ctx_"));
  const points: CurvePoint[] = [];
  const generation: GenerationPoint[] = [];
  let promptTokens = 0;
  for (const row of rows) {
    const test = /^(ctx_)?(pp|tg)(\d+)?(?: @ d(\d+))?$/.exec(row["test"] ?? "");
    const speed = speedOf(row["t/s"] ?? "");
    if (test === null || speed === undefined || speed <= 0) continue;
    const [, loading, kind, size = "0", at = "0"] = test;
    const context = Number(at);
    if (kind === "pp" && loading === undefined) promptTokens = Number(size);
    const end = loading === undefined ? context + promptTokens : context;
    const depth = loading === undefined && caching ? context : 0;
    if (kind === "pp") points.push({ depth, tokens: end - depth, seconds: (end - depth) / speed });
    else generation.push({ depth: end, tokensPerSecond: speed });
  }
  return points.length === 0 ? [] : [curve(rows[0]?.["model"] ?? "", points, generation)];
}

function curve(
  model: string,
  points: readonly CurvePoint[],
  generation: readonly GenerationPoint[],
): DepthCurve {
  return {
    key: { model, build: "", flags: "", untold: model === "" ? ["model", "flags"] : ["flags"] },
    points: points.toSorted((p, q) => p.depth - q.depth || p.tokens - q.tokens),
    generation: generation.toSorted((p, q) => p.depth - q.depth),
  };
}
