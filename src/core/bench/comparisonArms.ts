import type { BenchRow } from "../llamaBench/benchRow";
import type { ComparisonArm } from "./comparison";
import type { SpeedKind } from "./drift";

/** An option that a comparison varies: its name, llama-bench's flag and its field in the output. */
export interface VariedOption {
  readonly option: "cacheTypeK" | "cacheTypeV" | "flashAttn" | "ubatchSize" | "batchSize" | "threads";
  readonly flag: string;
  readonly field: string;
}

export const variedOptions: readonly VariedOption[] = [
  { option: "cacheTypeK", flag: "-ctk", field: "type_k" },
  { option: "cacheTypeV", flag: "-ctv", field: "type_v" },
  { option: "flashAttn", flag: "-fa", field: "flash_attn" },
  { option: "ubatchSize", flag: "-ub", field: "n_ubatch" },
  { option: "batchSize", flag: "-b", field: "n_batch" },
  { option: "threads", flag: "-t", field: "n_threads" },
];

const ofComputation: ReadonlySet<VariedOption["option"]> = new Set(["cacheTypeK", "cacheTypeV", "flashAttn"]);

/** Whether the option changes what the model computes: there, speed without the same answers is worth nothing. */
export const changesAnswers = ({ option }: Pick<VariedOption, "option">): boolean =>
  ofComputation.has(option);

/**
 * The arms of a run in which llama-bench went through a list of values (`-ctk f16,q8_0,f16`), or of several runs after
 * each other: a new arm begins where a field changes, so the baseline's second run is an arm of its own.
 */
export function armsOf(
  rows: readonly BenchRow[],
  varied: readonly VariedOption[],
  kind: SpeedKind,
): readonly ComparisonArm[] {
  const arms: { name: string; settings: Readonly<Record<string, string>>; rows: BenchRow[] }[] = [];
  for (const row of rows) {
    const settings = Object.fromEntries(varied.map(({ option, field }) => [option, row.raw[field] ?? ""]));
    const name = JSON.stringify(settings);
    const last = arms.at(-1);
    if (last?.name === name) last.rows.push(row);
    else arms.push({ name, settings, rows: [row] });
  }
  const wanted = (row: BenchRow): boolean =>
    kind === "prefill"
      ? row.promptTokens > 0 && row.generatedTokens === 0
      : row.generatedTokens > 0 && row.promptTokens === 0;
  return arms.map(({ settings, rows: own }) => ({
    settings,
    costs: own.filter(wanted).map((row) => ({
      depth: row.depth,
      secondsPerToken: row.samples.map((s) => s / (row.promptTokens + row.generatedTokens)),
    })),
  }));
}
