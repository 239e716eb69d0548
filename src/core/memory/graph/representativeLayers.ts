import type { Layer, Model } from "../../model/model";
import { block } from "./context";
import { tensorShapes } from "./modelTensors";
import type { Stage } from "./stage";

const representatives = new WeakMap<readonly Layer[], readonly Layer[]>();

/**
 * The allocator is in a steady state after a few equal layers: a layer whose surroundings were there before is left
 * out. The first and last layers always stay.
 */
export function representativeLayers(model: Model, stage: Stage): readonly Layer[] {
  const all = stage.layers;
  const fetches =
    stage.hostMatrices !== undefined || stage.expertsElsewhere !== undefined || stage.hostCache !== undefined;
  const found = fetches ? undefined : representatives.get(all);
  if (found !== undefined) return found;
  const own = looksOf(model);
  const fetched = fetches ? fetchedByLayer(stage) : undefined;
  const look = (layer: Layer): string => {
    const plain = own.get(layer) ?? "";
    return fetches
      ? `${plain},${fetched?.get(layer.index) ?? 0},${stage.hostCache?.(layer) === true}`
      : plain;
  };
  const looks = all.map(look);
  const seen = new Map<string, number>();
  const kept = all.filter((_, i) => {
    const around = looks.slice(Math.max(0, i - 2), i + 3).join("|");
    const times = seen.get(around) ?? 0;
    seen.set(around, times + 1);
    return times < 1 || i >= all.length - 3;
  });
  if (!fetches) representatives.set(all, kept);
  return kept;
}

const layerLooks = new WeakMap<Model, ReadonlyMap<Layer, string>>();

/** What a layer's part of the graph depends on. */
function looksOf(model: Model): ReadonlyMap<Layer, string> {
  const found = layerLooks.get(model);
  if (found !== undefined) return found;
  const shapes = tensorShapes(model);
  const looks = new Map(
    model.layers.map((layer) => {
      const { kind, heads, kvHeads, keyLength, valueLength, ownsKv, feedForward } = layer;
      const mixture = shapes.has(block(layer, "ffn_down_exps"));
      const width = shapes.get(block(layer, "ffn_down"))?.join() ?? "";
      const look = [kind, heads, kvHeads, keyLength, valueLength, ownsKv, feedForward, mixture, width];
      return [layer, look.join()];
    }),
  );
  layerLooks.set(model, looks);
  return looks;
}

const fetchedBytes = new WeakMap<ReadonlyMap<string, number>, ReadonlyMap<number, number>>();

/** Bytes each layer fetches, which tells layers of mixed quantisation apart. */
function fetchedByLayer({ hostMatrices, expertsElsewhere }: Stage): ReadonlyMap<number, number> {
  const matrices = hostMatrices ?? expertsElsewhere;
  const fetched = new Map<number, number>();
  if (matrices === undefined) return fetched;
  const found = fetchedBytes.get(matrices);
  if (found !== undefined) return found;
  for (const [name, bytes] of matrices) {
    const layer = Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? -1);
    fetched.set(layer, (fetched.get(layer) ?? 0) + bytes);
  }
  fetchedBytes.set(matrices, fetched);
  return fetched;
}
