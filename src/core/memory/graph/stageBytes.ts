import type { Model } from "../../model/model";
import type { ContextPlan } from "../contextPlan";
import { swaCells } from "../kvCache";
import type { Graph } from "./graph";
import { ModelGraph } from "./modelGraph";
import { mainLayers } from "./modelTensors";
import { layersKey } from "./representativeLayers";
import type { Stage } from "./stage";

/** Bytes of the compute buffer where one backend does everything. */
export function computeOnOneBackend(model: Model, plan: ContextPlan): number {
  // the graph of one whole ubatch, as `sched_reserve` measures it: tokens rounded up to full sequences
  const layers = mainLayers(model);
  const whole: Stage = { layers, start: "tokens", end: "logits", copies: 1, flashScratch: "other" };
  return computeOfStage(model, plan, whole, 32).compute;
}

export interface StageBytes {
  readonly compute: number;
  /** Sizes of the user's inputs (masks, positions, indices, …) by name: the host holds them all. */
  readonly inputs: ReadonlyMap<string, number>;
}

/** A graph that was built for one context, and how its sizes grow with it. */
interface Template {
  readonly graph: Graph;
  /** The last answer, by cells and alignment: `-fit` asks the same of many candidates. */
  last?: { readonly of: string; readonly bytes: StageBytes };
  readonly inputs: ReadonlyMap<string, number>;
  readonly cells: number;
  readonly growth?: { readonly sizes: Float64Array; readonly inputs: ReadonlyMap<string, number> };
}

const templates = new WeakMap<Model, Map<string, Template>>();
const mostTemplates = 64;

/**
 * Bytes of the compute buffer of a device that does a part of the work. Its graph is the same for every context, and its
 * sizes are linear in the cells: two contexts are built, all others are reserved with sizes in proportion.
 */
export function computeOfStage(model: Model, plan: ContextPlan, stage: Stage, alignment: number): StageBytes {
  const known = templates.get(model) ?? new Map<string, Template>();
  templates.set(model, known);
  const key = keyOf(model, plan, stage);
  const cells = plan.slot.nCtxSeq;
  const found = known.get(key);
  const of = `${cells} ${alignment}`;
  if (found?.last?.of === of) return found.last.bytes;
  if (found?.growth !== undefined) {
    const { growth, graph, inputs } = found;
    const more = cells - found.cells;
    const sizes = graph.sizes();
    for (let i = 0; i < sizes.length; i++) sizes[i] = (sizes[i] ?? 0) + (growth.sizes[i] ?? 0) * more;
    const grown = [...inputs].map(([name, size]): [string, number] => [
      name,
      size + (growth.inputs.get(name) ?? 0) * more,
    ]);
    const bytes = { compute: graph.reserve([alignment], sizes)[0] ?? 0, inputs: new Map(grown) };
    found.last = { of, bytes };
    return bytes;
  }
  const builder = new ModelGraph(model, plan, stage);
  builder.build();
  const made: Template = { graph: builder.graph, inputs: builder.inputBytes, cells };
  const kept = found === undefined ? made : (withGrowth(found, made) ?? made);
  const bytes = { compute: builder.graph.reserve([alignment])[0] ?? 0, inputs: builder.inputBytes };
  kept.last = { of, bytes };
  known.delete(key);
  known.set(key, kept);
  const [oldest] = known.keys();
  if (known.size > mostTemplates && oldest !== undefined) known.delete(oldest);
  return bytes;
}

/** undefined where they are for the same context, or not the same graph. */
function withGrowth(one: Template, other: Template): Template | undefined {
  const more = other.cells - one.cells;
  if (more === 0 || !one.graph.isShapedLike(other.graph)) return undefined;
  const before = one.graph.sizes();
  const sizes = other.graph.sizes().map((size, i) => (size - (before[i] ?? 0)) / more);
  const inputs = [...other.inputs].map(([name, size]): [string, number] => [
    name,
    (size - (one.inputs.get(name) ?? 0)) / more,
  ]);
  return { ...one, growth: { sizes, inputs: new Map(inputs) } };
}

/** All a stage's graph depends on but the cells of the whole context. */
function keyOf(model: Model, plan: ContextPlan, stage: Stage): string {
  const { ubatch, typeK, typeV, flashAttention, transposedValues, outputs, slot } = plan;
  const { start, end, copies, flashScratch, hostMatrices } = stage;
  const own = [slot.slots, slot.streams, swaCells(model, plan), plan.mixedEmbeddings, plan.olderInputs];
  const context = [ubatch, typeK.name, typeV.name, flashAttention, transposedValues, outputs, ...own];
  const places = [start, end, copies, flashScratch, hostMatrices !== undefined];
  return [...context, plan.flashCopiesCounted, ...places, layersKey(model, stage)].join(" ");
}
