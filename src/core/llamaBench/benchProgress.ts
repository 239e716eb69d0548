import type { CurvePoint } from "../prefill/depthCurve";

/** A line of `llama-bench --progress`, or none of them. */
export type BenchStep =
  | { readonly kind: "starting" | "warmup"; readonly test: number; readonly tests: number }
  | {
      readonly kind: "depth" | "prompt" | "generation";
      readonly test: number;
      readonly tests: number;
      readonly run: number;
      readonly runs: number;
      readonly cached: boolean;
    };

export function benchStep(line: string): BenchStep | undefined {
  const match = /^llama-bench: benchmark (\d+)\/(\d+): (.*)$/.exec(line.trim());
  if (match === null) return undefined;
  const position = { test: Number(match[1]), tests: Number(match[2]) };
  const rest = match[3] ?? "";
  if (rest === "starting") return { kind: "starting", ...position };
  if (rest.startsWith("warmup")) return { kind: "warmup", ...position };
  const step = /^(depth|prompt|generation) run (\d+)\/(\d+)( \(cached\))?/.exec(rest);
  if (step === null) return undefined;
  return {
    kind: step[1] as "depth" | "prompt" | "generation",
    ...position,
    run: Number(step[2]),
    runs: Number(step[3]),
    cached: step[4] !== undefined,
  };
}

/**
 * Filling the cache up to a depth is a whole cold prefill, and its time lies between two lines of progress: a free
 * measurement of the total that llama-bench itself does not report.
 */
export class FillTimes {
  readonly #depths: readonly number[];
  #filling: { readonly at: number; readonly test: number } | undefined;
  readonly points: CurvePoint[] = [];

  /** Depth of every test, in the order of the run. */
  constructor(depths: readonly number[]) {
    this.#depths = depths;
  }

  step(step: BenchStep, at: number): void {
    if (step.kind === "depth") {
      this.#filling = step.cached ? undefined : { at, test: step.test };
      return;
    }
    if (this.#filling?.test === step.test) {
      const depth = this.#depths[step.test - 1] ?? 0;
      const seconds = at - this.#filling.at;
      if (depth > 0 && seconds > 0) this.points.push({ depth: 0, tokens: depth, seconds });
    }
    this.#filling = undefined;
  }
}
