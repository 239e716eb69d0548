import type { Model } from "../model/model";
import type { ContextPlan } from "./contextPlan";
import type { LayerBytes } from "./kvCache";

/**
 * Recurrent state (llama-memory-recurrent.cpp): always f32, per sequence, once more for every draft token that may have to
 * be rolled back. It does not grow with the context.
 */
export function recurrentState(model: Model, plan: ContextPlan): readonly LayerBytes[] {
  const rows = plan.slot.slots * (1 + plan.rollback);
  return model.layers.flatMap((layer) =>
    layer.state === undefined
      ? []
      : [{ layer: layer.index, bytes: 4 * rows * (layer.state.shift + layer.state.state) }],
  );
}

export const sumBytes = (parts: readonly LayerBytes[]): number =>
  parts.reduce((sum, { bytes }) => sum + bytes, 0);
