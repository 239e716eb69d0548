/**
 * Error and coverage of the prefill predictor and of the live ETA on published series:
 *   npx esbuild bench/prediction.ts --bundle --platform=node --format=esm --packages=external \
 *     --outfile=out/bench/prediction.mjs --define:import.meta.dirname="\"$PWD/test/support\"" && node out/bench/prediction.mjs
 */
import { remainingPrefill } from "../src/core/prefill/liveEta";
import { isKneeProne } from "../src/core/prefill/kneeProne";
import { predict } from "../src/core/prefill/predict";
import type { DepthCurve } from "../src/core/prefill/depthCurve";
import { measuredTotal, probedAt, probedTo, readSpeedSeries } from "../test/support/speedSeries";
import type { SpeedSeries } from "../test/support/speedSeries";

interface Trial {
  readonly series: string;
  readonly kneeProne: boolean;
  readonly design: string;
  readonly depth: number;
  readonly factor: number;
  readonly known: boolean;
  /** ln(actual / predicted). */
  readonly error: number;
  readonly halfWidth: number;
  readonly inside: boolean;
}

const designs: Readonly<Record<string, (s: SpeedSeries, depth: number) => DepthCurve | undefined>> = {
  "all points": (s, depth) => probedTo(s.curve, depth),
  "0, D/4, D": (s, depth) => probedAt(s.curve, [0, depth / 4, depth]),
  "0, D/2, D": (s, depth) => probedAt(s.curve, [0, depth / 2, depth]),
  "0, D": (s, depth) => probedAt(s.curve, [0, depth]),
};

function trials(): Trial[] {
  const dev = readSpeedSeries().filter((s) => s.split === "dev");
  const found: Trial[] = [];
  for (const [design, take] of Object.entries(designs)) {
    for (const depth of [4096, 8192, 16384, 32768]) {
      for (const factor of [1.5, 2, 3, 4, 8]) {
        for (const series of dev) {
          const actual = measuredTotal(series, depth * factor);
          const curve = take(series, depth);
          const deepest = curve?.points.at(-1)?.depth ?? 0;
          if (actual === undefined || curve === undefined || deepest < 0.9 * depth) continue;
          const prediction = predict(curve, { tokens: depth * factor });
          found.push({
            series: series.id,
            kneeProne: isKneeProne(series.curve.key),
            design,
            depth,
            factor,
            known: prediction.known,
            error: prediction.known ? Math.log(actual / prediction.seconds) : Number.NaN,
            halfWidth: prediction.known
              ? Math.log(prediction.highSeconds / prediction.lowSeconds) / 2
              : Number.NaN,
            inside: prediction.known && actual >= prediction.lowSeconds && actual <= prediction.highSeconds,
          });
        }
      }
    }
  }
  return found;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((p, q) => p - q);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  return low + ((sorted[Math.ceil(at)] ?? low) - low) * (at % 1);
}

function row(name: string, group: readonly Trial[]): string {
  const known = group.filter((t) => t.known);
  const errors = known.map((t) => 100 * Math.abs(t.error));
  const cells = [0.5, 0.9, 1].map((q) => (known.length > 0 ? quantile(errors, q).toFixed(2) : "–"));
  const covered = (100 * known.filter((t) => t.inside).length) / Math.max(1, known.length);
  const width =
    100 *
    quantile(
      known.map((t) => t.halfWidth),
      0.5,
    );
  return `| ${name} | ${group.length} | ${group.length - known.length} | ${cells.join(" | ")} | ${covered.toFixed(0)} % | ± ${width.toFixed(1)} % |`;
}

const all = trials();
console.log("| probe | n | unknown | median % | p90 % | worst % | inside 80 % band | median half-width |");
console.log("|---|---:|---:|---:|---:|---:|---:|---:|");
for (const design of Object.keys(designs)) {
  for (const kneeProne of [false, true]) {
    for (const factor of [1.5, 2, 3, 4, 8]) {
      for (const depth of [0, 16384]) {
        const group = all.filter(
          (t) =>
            t.design === design &&
            t.kneeProne === kneeProne &&
            t.factor === factor &&
            (depth === 0 || t.depth === depth),
        );
        if (group.length === 0 || (depth === 16384 && factor !== 2 && factor !== 4)) continue;
        const scale = depth === 0 ? "any D" : "16K";
        console.log(row(`${design}, ${scale}, to ${factor} D${kneeProne ? ", knee-prone" : ""}`, group));
      }
    }
  }
}
const known = all.filter((t) => t.known);
console.log(row("all trials", all));

/** Coverage of each series with the band scaled to hold 82 % of all the *other* series, and the scales that gave. */
function leftOut(trialsOfDesign: readonly Trial[]): string {
  const trials = trialsOfDesign.filter((t) => t.known && !t.kneeProne);
  const names = [...new Set(trials.map((t) => t.series))];
  const reach = (t: Trial): number => Math.abs(t.error) / t.halfWidth;
  const scales = names.map((name) => quantile(trials.filter((t) => t.series !== name).map(reach), 0.82));
  const covered = names.map((name, i) => {
    const own = trials.filter((t) => t.series === name);
    return own.filter((t) => reach(t) <= (scales[i] ?? 1)).length;
  });
  const share = (100 * covered.reduce((s, n) => s + n, 0)) / trials.length;
  return `${share.toFixed(0)} %, scale ${Math.min(...scales).toFixed(2)} – ${Math.max(...scales).toFixed(2)}`;
}

console.log("\nBand left out series by series:");
for (const design of Object.keys(designs)) {
  console.log(`* ${design}: ${leftOut(all.filter((t) => t.design === design))}`);
}

/** Error of the remaining time after a share of the prompt, by the slope of the spans and by percent done. */
function etaErrors(share: number): { readonly ours: number[]; readonly percent: number[] } {
  const ours: number[] = [];
  const percent: number[] = [];
  for (const { curve, contiguous, split } of readSpeedSeries()) {
    const last = curve.points.at(-1);
    if (!contiguous || split !== "dev" || last === undefined) continue;
    const total = last.depth + last.tokens;
    let seconds = 0;
    const events = curve.points.map((p) => ({
      processed: p.depth + p.tokens,
      seconds: (seconds += p.seconds),
    }));
    const progress = events.filter((e) => e.processed <= share * total);
    const now = progress.at(-1);
    const eta = remainingPrefill({ total, cached: 0, progress });
    if (now === undefined || !eta.known) continue;
    const left = seconds - now.seconds;
    ours.push(100 * Math.abs(eta.seconds / left - 1));
    percent.push(100 * Math.abs((now.seconds * (total - now.processed)) / now.processed / left - 1));
  }
  return { ours, percent };
}

console.log("\n| prompt read | n | ours: median / p90 % | percent done: median / p90 % |");
console.log("|---|---:|---:|---:|");
for (const share of [0.1, 0.25, 0.5, 0.75]) {
  const { ours, percent } = etaErrors(share);
  const shown = (errors: readonly number[]): string =>
    `${quantile(errors, 0.5).toFixed(1)} / ${quantile(errors, 0.9).toFixed(1)}`;
  console.log(`| ${100 * share} % | ${ours.length} | ${shown(ours)} | ${shown(percent)} |`);
}
if (process.argv.includes("--worst")) {
  for (const t of known.toSorted((p, q) => Math.abs(q.error) - Math.abs(p.error)).slice(0, 40)) {
    console.log(
      t.series,
      t.design,
      t.depth,
      t.factor,
      (100 * t.error).toFixed(2),
      (100 * t.halfWidth).toFixed(2),
      t.inside,
    );
  }
}
