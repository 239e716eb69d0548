import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import type { DepthCurve } from "../../core/prefill/depthCurve";
import { naiveSeconds } from "../../core/prefill/depthCurve";
import { predict } from "../../core/prefill/predict";
import { largest } from "../../core/lists";

/** A place on the picture and what it stands for. */
export interface CurveMark {
  readonly x: number;
  readonly y: number;
  readonly tokens: number;
  readonly seconds: number;
}

export interface CurveLayout {
  /** SVG path data: the likely time, its 80 % band, and the time if the first measured speed lasted. */
  readonly line: string;
  readonly band: string;
  readonly naive: string;
  /** Where it was measured. */
  readonly measured: readonly CurveMark[];
  readonly prompt: CurveMark | undefined;
  /** Where the user's patience ends; undefined where nobody knows, or beyond the picture. */
  readonly patience: CurveMark | undefined;
  /** The end of the line. */
  readonly last: CurveMark | undefined;
  readonly tokenTicks: readonly { readonly at: number; readonly value: number }[];
  readonly secondTicks: readonly { readonly at: number; readonly value: number }[];
}

interface Sample {
  readonly tokens: number;
  readonly seconds: number;
  readonly low: number;
  readonly high: number;
}

const samples = 48;

/** The wait for 0 to `furthest` tokens, as far as the curve can tell, in a box with its origin at the lower left. */
export function curveLayout(
  curve: DepthCurve,
  prompt: number,
  furthest: number,
  box: { readonly width: number; readonly height: number },
  patienceTokens?: number,
): CurveLayout {
  const end = Math.max(1, prompt, furthest);
  const known = Array.from({ length: samples + 1 }, (_, i) => sampleAt(curve, (end * i) / samples)).filter(
    (sample) => sample !== undefined,
  );
  const top = largest(
    known.map((sample) => sample.high),
    1e-3,
  );
  const x = scaleLinear([0, end], [0, box.width]);
  const step = timeStep(top / 5);
  const y = scaleLinear([0, step * Math.ceil(top / step)], [box.height, 0]);
  const mark = (sample: Sample): CurveMark => ({
    x: x(sample.tokens),
    y: y(sample.seconds),
    tokens: sample.tokens,
    seconds: sample.seconds,
  });
  const at = (tokens: number): CurveMark | undefined => {
    const sample = sampleAt(curve, tokens);
    return sample && mark(sample);
  };
  const last = known.at(-1);
  const path = line<Sample>((sample) => x(sample.tokens)).y((sample) => y(sample.seconds));
  const band = area<Sample>((sample) => x(sample.tokens))
    .y0((sample) => y(sample.low))
    .y1((sample) => y(sample.high));
  const naive = line<Sample>((sample) => x(sample.tokens)).y((sample) =>
    y(naiveSeconds(curve, sample.tokens)),
  );
  return {
    line: path(known) ?? "",
    band: band(known) ?? "",
    naive: naive(known) ?? "",
    measured: ends(curve)
      .filter((tokens) => tokens <= end)
      .map(at)
      .filter((found) => found !== undefined),
    prompt: at(prompt),
    patience: patienceTokens === undefined || patienceTokens > end ? undefined : at(patienceTokens),
    last: last && mark(last),
    tokenTicks: x.ticks(4).map((value) => ({ at: x(value), value })),
    secondTicks: Array.from({ length: Math.ceil(top / step) + 1 }, (_, i) => ({
      at: y(i * step),
      value: i * step,
    })),
  };
}

/** Steps that people read easily: 1, 2, 5, 10, 15 and 30 seconds, minutes, hours; below and above in tens. */
function timeStep(least: number): number {
  const units = [1, 60, 3600].flatMap((unit) => [1, 2, 5, 10, 15, 30].map((times) => unit * times));
  const found = units.find((step) => step >= least);
  if (found !== undefined && least >= 0.5) return found;
  const ten = 10 ** Math.floor(Math.log10(least));
  return ten * ([1, 2, 5, 10].find((times) => ten * times >= least) ?? 10);
}

function sampleAt(curve: DepthCurve, tokens: number): Sample | undefined {
  const prediction = predict(curve, { tokens });
  return prediction.known
    ? { tokens, seconds: prediction.seconds, low: prediction.lowSeconds, high: prediction.highSeconds }
    : undefined;
}

/** Ends of the measured pieces; those closer than a hundredth of the whole are one mark. */
function ends(curve: DepthCurve): readonly number[] {
  const all = curve.points.map((point) => point.depth + point.tokens).toSorted((a, b) => a - b);
  const apart = (all.at(-1) ?? 0) / 100;
  return all.filter((tokens, i) => i === all.length - 1 || (all[i + 1] ?? 0) - tokens > apart);
}
