import { count, say, type Text } from "../text";
import type { ComparisonResult } from "./comparison";
import type { SpeedKind } from "./drift";

/** What the results of one other setting say together. */
export interface ComparisonConclusion {
  readonly option: string;
  readonly values: ComparisonResult["values"];
  readonly sentences: readonly Text[];
}

/** One for each of the other settings, in the order of the results. */
export function conclusionsOf(results: readonly ComparisonResult[]): readonly ComparisonConclusion[] {
  const groups = new Map<string, ComparisonResult[]>();
  for (const result of results) {
    const name = JSON.stringify([result.option, result.values]);
    groups.set(name, [...(groups.get(name) ?? []), result]);
  }
  return Array.from(groups.values()).flatMap((its) => {
    const [first] = its;
    return first === undefined
      ? []
      : [{ option: first.option, values: first.values, sentences: payingDepths(its) }];
  });
}

/** From which depth on the other setting pays, by the results of one run at several depths; one sentence per speed. */
function payingDepths(results: readonly ComparisonResult[]): readonly Text[] {
  if (results.length < 2) return [];
  return [paying(results, "prefill"), paying(results, "generation")];
}

function paying(results: readonly ComparisonResult[], kind: SpeedKind): Text {
  const byDepth = results.toSorted((p, q) => p.depth - q.depth);
  const name = kind === "prefill" ? say`Prefill` : say`Generation`;
  const isFaster = (result: ComparisonResult): boolean => result[kind].kind === "faster";
  const before = byDepth.findLastIndex((result) => !isFaster(result));
  const from = byDepth[before + 1];
  const last = byDepth[before];
  if (last === undefined) return say`${name}: faster at every depth that was compared.`;
  if (from !== undefined) {
    return say`${name}: faster from depth ${count(from.depth)} on, not yet at ${count(last.depth)}.`;
  }
  if (byDepth.some(({ [kind]: answer }) => answer.kind === "cannotJudge")) {
    return say`${name}: from which depth it pays cannot be said; not every depth could be judged.`;
  }
  const found = byDepth.find(isFaster);
  return found === undefined
    ? say`${name}: not faster at any depth that was compared.`
    : say`${name}: faster at depth ${count(found.depth)}, but not at the deepest one.`;
}
