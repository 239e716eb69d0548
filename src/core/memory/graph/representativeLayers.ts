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
      ? `${plain},${fetched?.get(layer.index)?.bytes ?? 0},${stage.hostCache?.(layer) === true}`
      : plain;
  };
  // numbers for looks: a surrounding is then one number, too
  const numbers = new Map<string, number>();
  const looks = all.map((layer) => {
    const own = look(layer);
    const number = numbers.get(own) ?? numbers.size + 1;
    numbers.set(own, number);
    return number;
  });
  const base = numbers.size + 1;
  const seen = new Set<number>();
  const kept = all.filter((_, i) => {
    let around = 0;
    for (let at = i - 2; at <= i + 2; at++) around = around * base + (looks[at] ?? 0);
    const before = seen.has(around);
    seen.add(around);
    return !before || i >= all.length - 3;
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

/**
 * Names the layers a stage's graph is built of by all they differ in, so that layers elsewhere in the model that are alike
 * make the same graph.
 */
export function layersKey(model: Model, stage: Stage): string {
  const kept = representativeLayers(model, stage);
  const { hostMatrices, expertsElsewhere, hostCache } = stage;
  if (hostMatrices === undefined && expertsElsewhere === undefined && hostCache === undefined) {
    return kept.map(({ index }) => index).join();
  }
  const looks = looksOf(model);
  const fetched = fetchedByLayer(stage);
  const one = (layer: Layer): string =>
    `${looks.get(layer) ?? ""}:${fetched.get(layer.index)?.detail ?? 0}:${hostCache?.(layer) === true}`;
  const first = kept[0];
  // where the first layer's norm is on the host, inputs come late
  const late = first !== undefined && hostMatrices?.has(block(first, "attn_norm")) === true;
  return `${late} ${fetched.get(-1)?.detail ?? 0} ${kept.map(one).join("|")}`;
}

/** What a layer fetches from the host. */
interface Fetched {
  readonly bytes: number;
  /** Differs where the same bytes are of other matrices. */
  readonly detail: number;
}

const fetchedBytes = new WeakMap<ReadonlyMap<string, number>, ReadonlyMap<number, Fetched>>();
const codes = new Map<string, number>();

/** Bytes each layer fetches, which tells layers of mixed quantisation apart; -1: what belongs to none. */
function fetchedByLayer({ hostMatrices, expertsElsewhere }: Stage): ReadonlyMap<number, Fetched> {
  const matrices = hostMatrices ?? expertsElsewhere;
  const fetched = new Map<number, Fetched>();
  if (matrices === undefined) return fetched;
  const found = fetchedBytes.get(matrices);
  if (found !== undefined) return found;
  for (const [name, bytes] of matrices) {
    const ofLayer = name.startsWith("blk.");
    const dot = ofLayer ? name.indexOf(".", 4) : -1;
    const layer = ofLayer ? Number(name.slice(4, dot)) : -1;
    const own = name.slice(dot + 1);
    const code = codes.get(own) ?? 2 * codes.size + 3;
    codes.set(own, code);
    const before = fetched.get(layer);
    fetched.set(layer, {
      bytes: (before?.bytes ?? 0) + bytes,
      detail: (before?.detail ?? 0) + bytes * code,
    });
  }
  fetchedBytes.set(matrices, fetched);
  return fetched;
}
