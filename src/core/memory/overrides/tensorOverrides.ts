import type { LaunchOptions, TensorOverride } from "../../launch/launchOptions";
import type { PlacedTensor, TensorSizes } from "../../model/tensorSizes";
import { PatternMatcher } from "./patternMatcher";
import { readPattern, type PatternProblem } from "./patternSyntax";

export interface OverrideProblem {
  readonly pattern: string;
  readonly problem: PatternProblem;
}

/** Which tensors `-ot` names. */
export interface TensorOverrides {
  /** The first override whose pattern occurs in the tensor's name: llama.cpp takes that one (llama-model-loader.cpp). */
  readonly of: (tensor: number) => TensorOverride | undefined;
  /** Patterns that are not evaluated, whose tensors stay where they would be without them. */
  readonly problems: readonly OverrideProblem[];
}

/** Tensors a pattern names, in the order of the model's. */
type Found =
  | { readonly ok: true; readonly tensors: Uint8Array; readonly steps: number }
  | { readonly ok: false; readonly problem: PatternProblem };

/** Tried places: for one pattern, and for all of one launch. Real ones need some thousands to a million; this is half a second. */
const maxSteps = 2 ** 24;
const maxAllSteps = 2 ** 25;
/** What reading one character of a pattern counts for. */
const stepsToRead = 16;
/** What `-fit` tries while it shares layers out, and the user's own. */
const keptPatterns = 256;

const kept = new WeakMap<TensorSizes, Map<string, Found>>();

export function tensorOverrides(sizes: TensorSizes, { overrideTensor = [] }: LaunchOptions): TensorOverrides {
  const known = kept.get(sizes) ?? new Map<string, Found>();
  kept.set(sizes, known);
  const evaluated: { readonly override: TensorOverride; readonly tensors: Uint8Array }[] = [];
  const problems: OverrideProblem[] = [];
  let left = maxAllSteps;
  // of two with the same pattern the first names every tensor
  const first = new Map(overrideTensor.toReversed().map((override) => [override.pattern, override]));
  for (const override of overrideTensor) {
    const { pattern } = override;
    if (first.get(pattern) !== override) continue;
    // a pattern nobody has steps for is not even read
    const found = left > 0 ? foundBy(pattern, sizes.all, known) : tooLarge;
    left -= stepsToRead * pattern.length + (found.ok ? found.steps : 0);
    if (found.ok && left > 0) evaluated.push({ override, tensors: found.tensors });
    else problems.push({ pattern, problem: found.ok ? "tooLarge" : found.problem });
  }
  return {
    of: (tensor) => evaluated.find(({ tensors }) => tensors[tensor] === 1)?.override,
    problems,
  };
}

const tooLarge: Found = { ok: false, problem: "tooLarge" };

function foundBy(pattern: string, tensors: readonly PlacedTensor[], known: Map<string, Found>): Found {
  const before = known.get(pattern);
  if (before !== undefined) return before;
  const found = evaluate(pattern, tensors);
  if (known.size >= keptPatterns) known.clear();
  known.set(pattern, found);
  return found;
}

function evaluate(pattern: string, tensors: readonly PlacedTensor[]): Found {
  const syntax = readPattern(bytewise(pattern));
  if (!syntax.ok) return syntax;
  const matcher = PatternMatcher.of(syntax.node);
  if (matcher === undefined) return tooLarge;
  matcher.allow(maxSteps);
  const found = Uint8Array.from(tensors, ({ name }) => (matcher.occursIn(encoder.encode(name)) ? 1 : 0));
  if (matcher.stepsLeft <= 0) return tooLarge;
  return { ok: true, tensors: found, steps: maxSteps - matcher.stepsLeft };
}

const encoder = new TextEncoder();

/** One character for each byte of UTF-8. */
function bytewise(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text;
  return Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join("");
}
