import type { Layer, Model } from "../../model/model";

/** Dimensions of a model's tensors by name without `.weight`. */
export type TensorShapes = ReadonlyMap<string, readonly number[]>;

const shapesOf = new WeakMap<Model, TensorShapes>();

export function tensorShapes(model: Model): TensorShapes {
  const found = shapesOf.get(model);
  if (found !== undefined) return found;
  const shapes = new Map<string, readonly number[]>();
  for (const { name, info } of model.tensors.all) {
    shapes.set(name.endsWith(".weight") ? name.slice(0, -7) : name, info.shape);
  }
  shapesOf.set(model, shapes);
  return shapes;
}

const mainLayersOf = new WeakMap<Model, readonly Layer[]>();

/** The same array at every call, so that what is found out about it can be kept. */
export function mainLayers(model: Model): readonly Layer[] {
  const found = mainLayersOf.get(model) ?? model.layers.filter((layer) => !layer.mtp);
  mainLayersOf.set(model, found);
  return found;
}
