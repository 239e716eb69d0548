/**
 * Error of the computed memory budget, by term and by architecture, on contexts llama.cpp itself sized; beside it the
 * formula of a common estimator on the same cases:
 *   npx esbuild bench/memory.ts --bundle --platform=node --format=esm --packages=external --outfile=out/bench/memory.mjs \
 *     --define:import.meta.dirname="\"$PWD/test/unit/core/memory\"" && node out/bench/memory.mjs
 */
import { breakdown } from "../src/core/memory/budget/breakdown";
import { buildNumber } from "../src/core/launch/builds";
import { comparisons, grouped, percent, printed, relative } from "../test/unit/core/memory/errorTable";
import { truth, type TruthRow } from "../test/unit/core/memory/fixtures";
import { modelOfCase, optionsOfCase, usableCases } from "../test/unit/core/memory/publicCases";

const MiB = 2 ** 20;

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

/**
 * Compute buffers printed in public logs, where one backend did everything or one device took all layers. The headers
 * are quoted without tensors, so widths come from the hyper-parameters alone.
 */
const perBuild = comparedLogs().map(({ id, build, device, ours, real }) => {
  const error = percent(relative(ours, real));
  return [id, build, device, `${(ours / MiB).toFixed(1)} MiB`, `${(real / MiB).toFixed(1)} MiB`, error].join(
    " | ",
  );
});
console.log(
  ["\ncompute, public logs: case | build | device | computed | printed | error", ...perBuild].join("\n"),
);

interface ComparedLog {
  readonly id: string;
  readonly build: string;
  readonly device: string;
  readonly ours: number;
  readonly real: number;
}

function comparedLogs(): readonly ComparedLog[] {
  return usableCases().flatMap((each): readonly ComparedLog[] => {
    const { compute } = each.measured;
    const names = Object.keys(compute ?? {});
    const gpus = names.filter((name) => !/host|^CPU$/i.test(name));
    const whole = gpus.length === 1 && !/partial|-ot-|26of65|62of66|31of33|25of33|nofa-ctx8192/.test(each.id);
    if (compute === undefined || !(whole || (gpus.length === 0 && names.includes("CPU")))) return [];
    const model = modelOfCase(each);
    const build = buildNumber(each.build);
    const [gpu] = gpus;
    const devices = gpu === undefined ? [] : [{ name: gpu, freeBytes: 2 ** 50 }];
    const options = {
      ...optionsOfCase(each),
      fit: false,
      ...(gpu !== undefined && { gpuLayers: "all" as const }),
    };
    const { rows: ours } = breakdown(model, options, devices, build === undefined ? {} : { build });
    return names.flatMap((name): readonly ComparedLog[] => {
      const own = ours.find((row) => row.name === (name === gpu ? gpu : "Host"));
      const real = compute[name];
      if (own === undefined || real === undefined) return [];
      const { bytes } = own.compute;
      return [{ id: each.id, build: each.build ?? "not said", device: name, ours: bytes, real: real * MiB }];
    });
  });
}
