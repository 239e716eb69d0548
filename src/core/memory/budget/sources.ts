import { bytes, say, type Text } from "../../text";
import type { LoggedBudget, MemoryReport } from "./memoryReport";
import { append } from "../../lists";

/** Rounding of what llama.cpp prints: whole MiB by the probe. */
const agreement = 2 ** 20;

const terms = [
  ["modelBytes", say`weights`],
  ["contextBytes", say`KV cache and state`],
  ["computeBytes", say`compute buffers`],
] as const;

/** In words, where the sources of a budget differ by more than they are rounded; else that they agree. */
export function differencesOf({ devices, computed, logged }: MemoryReport): readonly Text[] {
  const lines: Text[] = [];
  if (computed !== undefined) {
    const found = between(devices, computed.devices);
    append(
      lines,
      found.length === 0
        ? [say`llama-fit-params and our formulas agree to the MiB it prints.`]
        : found.map(([name, term, more]) =>
            more > 0
              ? say`${name}: llama-fit-params reports ${bytes(more)} more for ${term} than we compute; its figure is used.`
              : say`${name}: llama-fit-params reports ${bytes(-more)} less for ${term} than we compute; its figure is used.`,
          ),
    );
  }
  if (logged !== undefined) {
    const found = between(logged, (computed ?? { devices }).devices);
    append(
      lines,
      found.length === 0
        ? [say`The log of the running server agrees with our formulas to the MiB.`]
        : found.map(([name, term, more]) =>
            more > 0
              ? say`${name}: the log of the running server reports ${bytes(more)} more for ${term} than we compute.`
              : say`${name}: the log of the running server reports ${bytes(-more)} less for ${term} than we compute.`,
          ),
    );
  }
  return lines;
}

function between(
  theirs: readonly LoggedBudget[],
  ours: readonly LoggedBudget[],
): readonly (readonly [name: string, term: Text, more: number])[] {
  return theirs.flatMap((device) => {
    const own = ours.find(({ name }) => name === device.name);
    if (own === undefined) return [];
    return terms.flatMap(([field, term]) => {
      const more = device[field] - own[field];
      return Math.abs(more) <= agreement ? [] : [[device.name, term, more] as const];
    });
  });
}
