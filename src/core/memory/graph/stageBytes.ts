import type { Model } from "../../model/model";
import type { ContextPlan } from "../contextPlan";
import type { Graph } from "./graph";
import { ModelGraph } from "./modelGraph";
import { mainLayers } from "./modelTensors";
import type { Stage } from "./stage";

/** Bytes of the compute buffer where one backend does everything. */
export function computeOnOneBackend(model: Model, plan: ContextPlan): number {
  return buildGraph(model, plan).reserve([32])[0] ?? 0;
}

export interface StageBytes {
  readonly compute: number;
  /** Sizes of the user's inputs (masks, positions, indices, …) by name: the host holds them all. */
  readonly inputs: ReadonlyMap<string, number>;
}

/** Bytes of the compute buffer of a device that does a part of the work. */
export function computeOfStage(model: Model, plan: ContextPlan, stage: Stage, alignment: number): StageBytes {
  const builder = new ModelGraph(model, plan, stage);
  builder.build();
  return { compute: builder.graph.reserve([alignment])[0] ?? 0, inputs: builder.inputBytes };
}

/** The graph of one whole ubatch, as `sched_reserve` measures it: tokens rounded up to full sequences. */
function buildGraph(model: Model, plan: ContextPlan): Graph {
  const layers = mainLayers(model);
  const whole: Stage = { layers, start: "tokens", end: "logits", copies: 1, flashScratch: "other" };
  const builder = new ModelGraph(model, plan, whole);
  builder.build();
  return builder.graph;
}
