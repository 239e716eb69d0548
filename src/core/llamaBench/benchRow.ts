import type { CurveKey } from "../prefill/depthCurve";

/** One test of llama-bench: so many prompt and generated tokens behind so many in the cache. */
export interface BenchRow {
  readonly key: CurveKey;
  readonly depth: number;
  readonly promptTokens: number;
  readonly generatedTokens: number;
  /** Seconds of every repetition, in order; the mean alone where the format has no samples. */
  readonly samples: readonly number[];
  /** The row's fields as llama-bench wrote them. */
  readonly raw: Readonly<Record<string, string>>;
}

export interface RejectedRow {
  readonly raw: string;
  readonly why: string;
}

export interface BenchOutput {
  readonly rows: readonly BenchRow[];
  /** Lines that are not data: llama.cpp prints warnings into every format. */
  readonly warnings: readonly string[];
  /** Rows that cannot be measurements; kept as they came. */
  readonly rejected: readonly RejectedRow[];
}

/** Fields of a row that say what was measured and what came out; everything else is a setting. */
const notSettings = new Set([
  ...["build_commit", "build_number", "cpu_info", "gpu_info", "backends", "backend", "model_filename"],
  ...[
    "model_type",
    "model",
    "model_size",
    "size",
    "model_n_params",
    "params",
    "n_prompt",
    "n_gen",
    "n_depth",
  ],
  ...["test_time", "avg_ns", "stddev_ns", "avg_ts", "stddev_ts", "samples_ns", "samples_ts", "test", "t/s"],
]);

/** Faster than any machine: such a figure is a broken clock or a cached answer. */
export const impossibleTokensPerSecond = 2e6;

/** A year: no bench takes so long, a broken clock does. */
const impossibleSeconds = 3.2e7;

/** Makes a row of llama-bench's fields (`n_prompt`, `avg_ns`, …; old builds lack some), or says why it is none. */
export function benchRow(
  raw: Readonly<Record<string, string>>,
  samplesNs: readonly number[],
): BenchRow | RejectedRow {
  const promptTokens = Number(raw["n_prompt"] ?? 0);
  const generatedTokens = Number(raw["n_gen"] ?? 0);
  const depth = Number(raw["n_depth"] ?? 0);
  const averageNs = Number(raw["avg_ns"]);
  const samples = (samplesNs.length > 0 ? samplesNs : [averageNs]).map((ns) => ns / 1e9);
  const tokens = promptTokens + generatedTokens;
  const refuse = (why: string): RejectedRow => ({ raw: JSON.stringify(raw).slice(0, 2000), why });
  if (
    ![promptTokens, generatedTokens, depth].every((n) => Number.isSafeInteger(n) && n >= 0) ||
    tokens === 0
  ) {
    return refuse("no token counts");
  }
  if (!samples.every((s) => s > 0 && s < impossibleSeconds)) return refuse("no time");
  if (samples.some((s) => tokens / s > impossibleTokensPerSecond)) return refuse("impossibly fast");
  return { key: keyOf(raw), depth, promptTokens, generatedTokens, samples, raw };
}

export function isRow(row: BenchRow | RejectedRow): row is BenchRow {
  return "samples" in row;
}

function keyOf(raw: Readonly<Record<string, string>>): CurveKey {
  const build = [raw["build_commit"], raw["build_number"] && `(${raw["build_number"]})`]
    .filter((part) => part !== undefined && part !== "")
    .join(" ");
  const settings = Object.entries(raw)
    .filter(([name, value]) => !notSettings.has(name) && value !== "")
    .map(([name, value]) => `${name}=${value}`)
    .sort();
  const hardware = [raw["gpu_info"], raw["cpu_info"]].find((text) => text !== undefined && text !== "");
  const backend = raw["backends"] ?? raw["backend"];
  return {
    model: raw["model_filename"] ?? raw["model_type"] ?? raw["model"] ?? "",
    ...(raw["model_filename"] === undefined && { untold: ["model"] as const }),
    build,
    flags: settings.join(" "),
    ...(backend !== undefined && backend !== "" && { backend }),
    ...(hardware !== undefined && { hardware }),
  };
}
