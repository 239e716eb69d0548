import type { Layer } from "../../model/model";
import { scaled, perToken, type GraphContext } from "./context";
import { denseFeedForward, mixtureOfExperts } from "./feedForward";
import type { Tensor } from "./graph";

/** Gemma 4's experts beside a dense part, each with norms of its own (src/models/gemma4.cpp). */
export function gemma4Mixture(context: GraphContext, layer: Layer, middle: Tensor): Tensor {
  const { graph } = context;
  const bytes = graph.bytesOf(middle);
  const routed = mixtureOfExperts(context, layer, graph.op(bytes, middle), () => graph.op(bytes, middle));
  const dense = denseFeedForward(context, layer, "", graph.op(bytes, middle));
  return graph.inPlace(bytes, dense, routed);
}

/** The extra embedding each layer of Gemma 4's small models gets. */
export class PerLayerInput {
  private readonly width: number;
  private readonly selected: Tensor;
  private embedded: Tensor | undefined;
  private all: Tensor | undefined;

  constructor(
    private readonly context: GraphContext,
    private readonly rows: (tensor: Tensor) => Tensor,
  ) {
    const { model, tokens, graph } = context;
    this.width = perToken(context, model.perLayerEmbedding * model.layers.length);
    const selected = graph.op(this.width, context.input("per layer tokens", 4 * tokens));
    // Gemma 3n scales it at once, out of place
    this.selected = model.architecture === "gemma3n" ? graph.op(this.width, graph.view(selected)) : selected;
  }

  /** The extra embeddings of all layers, made when the first layer asks. */
  ofAll(): Tensor {
    this.all ??= this.make();
    return this.all;
  }

  /** Keeps the token embeddings until the first layer projects them. */
  project(embedded: Tensor): void {
    this.embedded = embedded;
  }

  add(hidden: Tensor, last: boolean): Tensor {
    const { graph, model } = this.context;
    const few = scaled(this.context, hidden, model.perLayerEmbedding);
    const gate = graph.inPlace(few, graph.op(few, hidden));
    const all = this.ofAll();
    const own = last ? this.rows(this.ofLayer()) : graph.view(all);
    const mixed = graph.op(graph.bytesOf(hidden), graph.inPlace(few, gate, own));
    return graph.inPlace(graph.bytesOf(hidden), hidden, mixed);
  }

  /** A view of one layer's part has that part's size when rows are taken from it. */
  private ofLayer(): Tensor {
    return this.context.graph.part(
      this.all ?? 0,
      perToken(this.context, this.context.model.perLayerEmbedding),
    );
  }

  private make(): Tensor {
    const { graph } = this.context;
    const projected = graph.op(this.width, this.embedded ?? 0);
    const normed = graph.op(this.width, graph.view(projected));
    const sum = graph.inPlace(this.width, normed, graph.view(this.selected));
    return graph.op(this.width, graph.view(sum));
  }
}
