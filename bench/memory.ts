/**
 * Error of the computed memory budget, by term and by architecture, on contexts llama.cpp itself sized; beside it the
 * formula of a common estimator on the same cases:
 *   npx esbuild bench/memory.ts --bundle --platform=node --format=esm --packages=external --outfile=out/bench/memory.mjs \
 *     --define:import.meta.dirname="\"$PWD/test/unit/core/memory\"" && node out/bench/memory.mjs
 */
import { breakdown } from "../src/core/memory/memoryBudget";
import { comparisons, grouped, printed, relative } from "../test/unit/core/memory/errorTable";
import { truth, type TruthRow } from "../test/unit/core/memory/fixtures";

interface Terms {
  readonly row: TruthRow;
  readonly weights: number;
  readonly context: number;
  readonly total: number;
  readonly peerContext: number;
  readonly peerTotal: number;
}

/** llmfit's llmfit-core/src/models.rs: weights + 2 × layers × KV heads × head size × context × 2 bytes + 0.5 GB. */
function peer({ model, nCtx }: TruthRow): { readonly context: number; readonly total: number } {
  const kvHeads = Math.max(0, ...model.layers.map((layer) => layer.kvHeads));
  const heads = Math.max(1, ...model.layers.map((layer) => layer.heads));
  const context = 2 * model.layers.length * kvHeads * (model.embeddingLength / heads) * nCtx * 2;
  return { context, total: model.tensors.totalBytes + context + 0.5e9 };
}

function terms(row: TruthRow): Terms {
  const ours = breakdown(row.model, row.options, row.devices, { caller: row.caller }).rows;
  const real = [...row.buffers.values()].reduce<readonly [number, number, number]>(
    ([a, b, c], [weights, context, compute]) => [a + weights, b + context, c + compute],
    [0, 0, 0],
  );
  const weights = ours.reduce((sum, each) => sum + each.weights, 0);
  const context = ours.reduce((sum, each) => sum + each.kv + each.recurrent, 0);
  const compute = ours.reduce((sum, each) => sum + each.compute.bytes, 0);
  const whole = real[0] + real[1] + real[2];
  const theirs = peer(row);
  return {
    row,
    weights: relative(weights, real[0]),
    context: relative(context, real[1]),
    total: relative(weights + context + compute, whole),
    peerContext: relative(theirs.context, real[1]),
    peerTotal: relative(theirs.total, whole),
  };
}

const rows = truth().rows.filter((row) => !row.draftContext);
const measured = rows.map(terms);
const by = (pick: (each: Terms) => number): ReadonlyMap<string, readonly number[]> =>
  grouped(measured, ({ row }) => row.model.architecture, pick);
console.log(
  printed(
    "weights",
    by((each) => each.weights),
  ),
);
console.log(
  printed(
    "\nKV cache and state",
    by((each) => each.context),
  ),
);
console.log(
  printed(
    "\nKV cache, the peer's formula",
    by((each) => each.peerContext),
  ),
);
console.log(
  printed(
    "\ntotal",
    by((each) => each.total),
  ),
);
console.log(
  printed(
    "\ntotal, the peer's formula",
    by((each) => each.peerTotal),
  ),
);
const buffers = comparisons(rows.filter(({ caller }) => caller === "server"));
const perGroup = grouped(
  buffers,
  ({ group }) => group,
  ({ ours, real }) => relative(ours, real),
);
console.log(printed("\ncompute, by device", perGroup));
