import { given } from "../given";
import { UnexpectedValue, Wire } from "../wire";
import { sameBuild } from "../launch/builds";
import { count, say } from "../text";
import type { Text } from "../text";
import { UserError } from "../userError";

/**
 * What a curve was measured on. Two curves with different keys are never mixed: KV cache types, ubatch, build and
 * device each change the slope.
 */
export interface CurveKey {
  readonly model: string;
  readonly build: string;
  readonly flags: string;
  /** e.g. "CUDA", "Vulkan (RADV)". */
  readonly backend?: string;
  readonly hardware?: string;
  /** Fields that the source of the curve does not tell: empty ones are then no defaults. */
  readonly untold?: readonly UntoldField[];
}

export const untoldFields = ["model", "flags"] as const;

export type UntoldField = (typeof untoldFields)[number];

/** `tokens` tokens prefilled with `depth` tokens already in the cache took `seconds`. */
export interface CurvePoint {
  readonly depth: number;
  readonly tokens: number;
  readonly seconds: number;
}

export interface GenerationPoint {
  readonly depth: number;
  readonly tokensPerSecond: number;
}

/** Prefill cost by depth, as measured by a probe, a bench or real requests of one key. */
export interface DepthCurve {
  readonly key: CurveKey;
  /** In order of depth. */
  readonly points: readonly CurvePoint[];
  readonly generation: readonly GenerationPoint[];
  /** Seconds per request that no token explains. */
  readonly overheadSeconds?: number;
  /** Standard deviation of ln(time) between repeats in the session of the probe, where it was seen. */
  readonly spread?: number;
  /** ISO time; absent where the source does not tell. */
  readonly measuredAt?: string;
}

const maxPoints = 100_000;

/** Reads a `CURVE.json` document. Fails with `invalidInput` naming the field; `empty`: a curve may have no point yet. */
export function parseDepthCurve(document: unknown, options: { readonly empty?: boolean } = {}): DepthCurve {
  let curve: DepthCurve;
  try {
    curve = readCurve(new Wire(document, ""));
  } catch (cause) {
    throw cause instanceof UnexpectedValue ? invalid(problemOf(cause)) : cause;
  }
  if (curve.points.length === 0 && options.empty !== true)
    throw invalid(say`A curve needs at least one point.`);
  return curve;
}

function readCurve(root: Wire): DepthCurve {
  const number = (value: Wire, least: number): number => value.number(least, 1e12);
  const key = root.at("key").optional((value) => value.object()) ?? {};
  const points = listOf(root.at("points"), (point) => ({
    depth: number(point.at("depth"), 0),
    tokens: number(point.at("tokens"), 1),
    seconds: number(point.at("seconds"), Number.MIN_VALUE),
  }));
  const generation = root.at("generation").optional((list) =>
    listOf(list, (point) => ({
      depth: number(point.at("depth"), 0),
      tokensPerSecond: number(point.at("tokensPerSecond"), Number.MIN_VALUE),
    })),
  );
  return given({
    key: given({
      model: words(key["model"]),
      build: words(key["build"]),
      flags: words(key["flags"]),
      backend: words(key["backend"]) || undefined,
      hardware: words(key["hardware"]) || undefined,
      untold: untoldOf(key),
    }),
    points: points.toSorted((p, q) => p.depth - q.depth || p.tokens - q.tokens),
    generation: (generation ?? []).toSorted((p, q) => p.depth - q.depth),
    overheadSeconds: root.at("overheadSeconds").optional((value) => number(value, 0)),
    spread: root.at("spread").optional((value) => number(value, 0)),
    measuredAt: root.at("measuredAt").optional((value) => isoTime(value.text())),
  });
}

function untoldOf(key: Readonly<Record<string, unknown>>): readonly UntoldField[] | undefined {
  const told: unknown = key["untold"];
  const fields = (["model", "flags"] as const).filter(
    (field) => words(key[field]) === "" && (field === "model" || key[field] === undefined),
  );
  const all = [
    ...fields,
    ...(Array.isArray(told) ? (["model", "flags"] as const).filter((f) => told.includes(f)) : []),
  ];
  return all.length === 0 ? undefined : [...new Set(all)];
}

/** Undefined for what is no time: then nobody knows. */
function isoTime(text: string): string | undefined {
  const time = Date.parse(text);
  return Number.isFinite(time) ? new Date(time).toISOString() : undefined;
}

function listOf<T>(list: Wire, read: (item: Wire) => T): readonly T[] {
  const items = list.items();
  if (items.length > maxPoints)
    throw invalid(say`${list.where} of the curve has more than ${count(maxPoints)} entr[y|ies].`);
  return items.map(read);
}

function problemOf({ where, value, expected }: UnexpectedValue): Text {
  if (expected === "an object") return say`${where || "The top level"} of the curve is not an object.`;
  if (expected === "an array") return say`${where} of the curve is not a list.`;
  return say`${where} of the curve is not a number within range: ${shown(value)}.`;
}

/**
 * What keeps two curves apart. One build is written in several ways, and a server's curve does not name the backend or,
 * from elsewhere, the hardware: what only one of the two tells is no difference.
 */
export function differingFields(one: CurveKey, other: CurveKey): readonly (keyof CurveKey)[] {
  const told = (["backend", "hardware"] as const).filter(
    (field) => one[field] !== undefined && other[field] !== undefined && one[field] !== other[field],
  );
  return [
    ...(one.model === other.model ? [] : (["model"] as const)),
    ...(one.build === other.build || sameBuild(one.build, other.build) ? [] : (["build"] as const)),
    ...(one.flags === other.flags ? [] : (["flags"] as const)),
    ...told,
  ];
}

function invalid(problem: Text): UserError {
  return new UserError("invalidInput", problem, say`Provide a curve as printed by "probe".`);
}

function shown(value: unknown): string {
  return (JSON.stringify(value) as string | undefined)?.slice(0, 40) ?? "missing";
}

/** A key's field as words: lists are joined, objects written out, so that keys can be compared as text. */
function words(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(words).join(" ");
  return JSON.stringify(value);
}

/** Seconds if the speed of the first span held for ever: what dividing by a short prompt's speed says. For contrast. */
export function naiveSeconds(curve: DepthCurve, tokens: number): number {
  const [first] = curve.points;
  return first === undefined ? Number.NaN : (tokens * first.seconds) / first.tokens;
}
