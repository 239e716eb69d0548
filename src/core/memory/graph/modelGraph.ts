import type { Layer, Model } from "../../model/model";
import type { Backend } from "../devices/memoryDevice";
import type { ContextPlan } from "../contextPlan";
import { attend, attention, attentionSizes, cellsOf, stored } from "./attention";
import { block, type GraphContext } from "./context";
import { feedForward, isMixture } from "./feedForward";
import { Graph, type Tensor } from "./graph";
import { expandedLatentAttention, latentAttention, storeExpanded } from "./latentAttention";
import { altUpLayer, merged, stacked } from "./altUp";
import { gemma4Mixture, PerLayerInput } from "./gemma";
import { deltaNet, mamba, mamba2, shiftRows, shortConvolution } from "./recurrentLayers";
import { rwkvLayer, rwkvRows, type RwkvRows } from "./rwkvLayers";
import { tensorShapes, type TensorShapes } from "./modelTensors";
import { representativeLayers } from "./representativeLayers";
import type { Stage } from "./stage";
import { styleOf, type LayerStyle } from "./styles";

/** Builds the part of a model's graph that one device works on, in llama.cpp's order. */
export class ModelGraph implements GraphContext {
  readonly graph = new Graph();
  readonly tokens: number;
  readonly sequences: number;
  readonly outputs: number;
  readonly embedding: number;
  readonly flashScratch: Backend;
  readonly inputBytes = new Map<string, number>();
  private readonly inputs = new Map<string, Tensor>();
  private readonly shapes: TensorShapes;
  private readonly style: LayerStyle;
  private readonly layers: readonly Layer[];
  /** Shift rows of a recurrent layer that were taken out ahead of its turn. */
  private readonly shifts = new Map<number, Tensor>();
  private readonly past = new Map<number, RwkvRows>();
  private readonly firstValue: { tensor: Tensor | undefined } = { tensor: undefined };
  private perLayer: PerLayerInput | undefined;
  /** Layers start on the host: inputs are fetched where they are read first, not ahead of all else. */
  private readonly late: boolean;
  private at = 0;
  private expansionsLeft = 0;

  constructor(
    readonly model: Model,
    readonly plan: ContextPlan,
    private readonly stage: Stage,
  ) {
    this.flashScratch = stage.flashScratch;
    const first = stage.layers[0];
    this.late = first !== undefined && stage.hostMatrices?.has(block(first, "attn_norm")) === true;
    this.sequences = plan.slot.slots;
    this.tokens = Math.ceil(plan.ubatch / this.sequences) * this.sequences;
    this.outputs = Math.max(plan.outputs, Math.min(this.sequences, this.tokens));
    this.embedding = 4 * this.tokens * model.embeddingLength;
    this.shapes = tensorShapes(model);
    this.style = styleOf(model.architecture);
    this.layers = representativeLayers(model, stage);
  }

  has(tensor: string): boolean {
    return this.shapes.has(tensor);
  }

  hasBias(tensor: string): boolean {
    return this.shapes.has(`${tensor}.bias`);
  }

  size(tensor: string, dimension: 0 | 1, otherwise: number): number {
    return this.shapes.get(tensor)?.[dimension] ?? otherwise;
  }

  input(name: string, bytes: number): Tensor {
    const found = this.inputs.get(name);
    if (found !== undefined) return found;
    this.inputBytes.set(name, bytes);
    return this.incoming(name, bytes);
  }

  product(matrix: string, bytes: number, ...sources: readonly Tensor[]): Tensor {
    const fetched = this.stage.hostMatrices?.get(matrix);
    if (fetched === undefined) return this.graph.op(bytes, ...sources);
    const product = this.graph.op(bytes, ...sources, this.graph.op(fetched));
    return this.weighed(`${matrix}.bias`, product);
  }

  weighed(vector: string, tensor: Tensor): Tensor {
    const fetched = this.stage.hostMatrices?.get(vector);
    if (fetched === undefined) return tensor;
    return this.graph.inPlace(this.graph.bytesOf(tensor), tensor, this.graph.op(fetched));
  }

  expertsElsewhere(layer: Layer): boolean {
    return this.stage.expertsElsewhere?.has(block(layer, "ffn_down_exps")) === true;
  }

  private output(layer: Layer, attended: Tensor): Tensor {
    return this.product(block(layer, "attn_output"), this.embedding, attended);
  }

  fetchedCache(layer: Layer): readonly Tensor[] {
    if (this.stage.hostCache?.(layer) !== true) return [];
    const { typeK, typeV, slot } = this.plan;
    const cells = cellsOf(this, layer) * slot.streams;
    const key = this.graph.op(stored(cells * layer.kvHeads * layer.keyLength, typeK));
    if (this.model.mla !== undefined) return [key];
    return [key, this.graph.op(stored(cells * layer.kvHeads * layer.valueLength, typeV))];
  }

  /** Something made elsewhere; several copies of it stay for good. */
  private incoming(name: string, bytes: number): Tensor {
    const { copies } = this.stage;
    const made = this.late ? this.graph.op(bytes) : this.graph.input(bytes * copies);
    if (copies > 1) this.graph.storeInto(made);
    this.inputs.set(name, made);
    return made;
  }

  beforeTail(): void {
    this.expansionsLeft -= 1;
    if (this.expansionsLeft === 0) this.takeShiftAhead();
  }

  build(): void {
    const { graph, model, stage } = this;
    let { hidden, normed } = this.begin();
    if (model.rules?.state === "rwkv" && this.layers[0] !== undefined) this.takeRows(this.layers[0]);
    const first = stage.start === "tokens" || stage.start === "copied";
    const altUp = first && model.architecture === "gemma3n" ? this.extraEmbeddings(hidden) : undefined;
    if (altUp !== undefined) hidden = stacked(this, hidden);
    if (first && this.has("token_embd_norm")) hidden = graph.op(this.embedding, hidden);
    if (this.layers[0] !== undefined && this.expansionsOf(this.layers[0]) === 0) this.takeShiftAhead();
    this.layers.forEach((layer, i) => {
      this.at = i + 1;
      if (i === 0 && !this.past.has(layer.index)) this.takeRows(layer);
      this.expansionsLeft = this.expansionsOf(layer);
      const last = i === this.layers.length - 1 && stage.end === "logits";
      hidden =
        altUp === undefined
          ? this.layer(layer, hidden, last, normed)
          : altUpLayer(this, layer, hidden, altUp);
      normed = undefined;
    });
    this.finish(hidden, altUp !== undefined);
  }

  private finish(last: Tensor, isStack: boolean): void {
    const { graph, model, stage } = this;
    if (stage.end === "nothing") return;
    if (stage.end === "handover") {
      graph.op(this.embedding, last);
      return;
    }
    const hidden = isStack ? this.rows(merged(this, last)) : last;
    // a layer norm, unlike an RMS norm, never writes over its input
    const bytes = graph.bytesOf(hidden);
    const normed = this.has("output_norm.bias") ? graph.op(bytes, hidden) : graph.inPlace(bytes, hidden);
    this.product("output", 4 * model.vocabularySize * this.outputs, normed);
  }

  private begin(): { hidden: Tensor; normed: Tensor | undefined } {
    const { graph, embedding, stage } = this;
    if (stage.start === "normed") {
      const normed = this.incoming("normed", embedding);
      const hidden = this.incoming("hidden", embedding);
      return {
        hidden,
        normed: stage.copies > 1 ? graph.op(embedding, normed) : graph.inPlace(embedding, normed),
      };
    }
    if (stage.start === "hidden") {
      const asked = (embedding / this.tokens) * this.outputs;
      return { hidden: this.incoming("hidden", asked), normed: undefined };
    }
    if (stage.start === "sum") {
      const sum = graph.inPlace(
        embedding,
        this.incoming("fed", embedding),
        this.incoming("middle", embedding),
      );
      return { hidden: sum, normed: undefined };
    }
    return { hidden: this.embeddings(), normed: undefined };
  }

  /** Token embeddings, and beside them the branch for embeddings from outside, of which two tensors are never freed. */
  private embeddings(): Tensor {
    const { graph, embedding, tokens } = this;
    const copied = this.stage.start === "copied";
    this.inputBytes.set("external embeddings", embedding);
    if (!copied) graph.storeInto(this.incoming("external embeddings", embedding));
    if (this.model.architecture === "gemma4" && this.model.perLayerEmbedding > 0) {
      this.perLayer = new PerLayerInput(this, (tensor) => this.rows(tensor));
    }
    const embedded = copied
      ? this.incoming("embedded", embedding)
      : graph.op(embedding, this.input("tokens", 4 * tokens));
    const mixes = this.plan.mixedEmbeddings && (!copied || this.model.architecture !== "gemma3n");
    if (mixes) this.mixedEmbeddings(copied);
    this.perLayer?.project(embedded);
    const scales = /^gemma(3|3n|4)$/.test(this.model.architecture) || this.model.temperatureScale;
    return scales ? graph.inPlace(embedding, embedded, this.input("scales", 4 * tokens)) : embedded;
  }

  private mixedEmbeddings(copied: boolean): void {
    const { graph, embedding, tokens } = this;
    const mixed = copied
      ? this.incoming("mixed", embedding)
      : graph.op(embedding, this.input("mixed tokens", 4 * tokens));
    const copy = graph.op(embedding, this.input("mixed embeddings", embedding));
    graph.storeInto(copy, mixed, this.input("mixed slots", 8 * tokens));
  }

  private extraEmbeddings(embedded: Tensor): PerLayerInput {
    const extra = new PerLayerInput(this, (tensor) => this.rows(tensor));
    extra.project(embedded);
    return extra;
  }

  private expansionsOf(layer: Layer): number {
    return (layer.kind === "none" ? 0 : 1) + (isMixture(this, layer) ? 1 : 0);
  }

  /** Recurrent layers take their shift rows before the layers above have finished. */
  private takeShiftAhead(): void {
    for (let i = this.at; i < this.layers.length; i++) {
      const layer = this.layers[i];
      if (layer === undefined) return;
      this.takeRows(layer);
      if (this.expansionsOf(layer) > 0) return;
    }
  }

  private takeRows(layer: Layer): void {
    if (!needsShiftAhead(this.model, layer)) return;
    if (this.model.rules?.state === "rwkv") this.past.set(layer.index, rwkvRows(this, layer));
    else this.shifts.set(layer.index, shiftRows(this, layer));
  }

  private layer(layer: Layer, hidden: Tensor, last: boolean, incoming: Tensor | undefined): Tensor {
    if (this.model.rules?.state === "rwkv") {
      const past = this.past.get(layer.index) ?? rwkvRows(this, layer);
      const rows = last ? (tensor: Tensor): Tensor => this.rows(tensor) : undefined;
      return rwkvLayer(this, layer, past, hidden, rows, this.firstValue);
    }
    const parallel = this.style.parallel;
    if (parallel !== undefined) return this.parallelLayer(layer, hidden, last, parallel, incoming);
    const { graph, style, model } = this;
    if (layer.kind === "none") return this.feedForwardOnly(layer, hidden, last, incoming);
    const normed = incoming ?? (style.noInputNorm === true ? hidden : this.inputNorm(layer, hidden));
    let mixed =
      model.rules?.recurrent?.kind === "both"
        ? this.sideBySide(layer, hidden, normed)
        : this.mixer(layer, normed);
    let residual = hidden;
    if (last) {
      mixed = this.rows(mixed);
      residual = this.rows(residual);
    }
    const bytes = graph.bytesOf(mixed);
    const sum = (first: Tensor, second: Tensor, swapped: boolean): Tensor =>
      swapped ? graph.inPlace(bytes, second, first) : graph.inPlace(bytes, first, second);
    const middle = sum(mixed, residual, style.residualFirst === "both");
    if (!this.hasFeedForward(layer)) return middle;
    const gemma4 = model.architecture === "gemma4";
    const fed =
      gemma4 && isMixture(this, layer)
        ? gemma4Mixture(this, layer, middle)
        : feedForward(
            this,
            layer,
            style.noInputNorm === true ? middle : this.middleNorm(layer, graph.op(bytes, middle)),
          );
    const out = sum(fed, middle, style.residualFirst !== undefined);
    return this.perLayer === undefined ? out : this.perLayer.add(out, last);
  }

  private inputNorm(layer: Layer, hidden: Tensor): Tensor {
    return this.weighed(block(layer, "attn_norm"), this.graph.op(this.embedding, hidden));
  }

  private middleNorm(layer: Layer, normed: Tensor): Tensor {
    const own = block(layer, "ffn_norm");
    return this.weighed(this.has(own) ? own : block(layer, "post_attention_norm"), normed);
  }

  private hasFeedForward(layer: Layer): boolean {
    if (this.shapes.size === 0) return layer.feedForward > 0 || this.model.experts !== undefined;
    return this.has(block(layer, "ffn_down")) || this.has(block(layer, "ffn_down_exps"));
  }

  /** Attention or recurrence, to the end of its output projection. */
  private mixer(layer: Layer, normed: Tensor): Tensor {
    const { graph, model } = this;
    if (layer.kind === "recurrent") {
      const out = this.recurrent(layer, normed);
      return model.rules?.recurrent?.kind === "noKvHeadsNoFeedForward" ? out : graph.view(out);
    }
    if (model.mla !== undefined) return this.output(layer, latentAttention(this, layer, model.mla, normed));
    if (this.has(block(layer, "attn_kv_a_mqa"))) {
      const projected = expandedLatentAttention(this, layer, normed);
      storeExpanded(this, layer, projected);
      const out = attend(this, layer, projected.query, attentionSizes(this, layer));
      this.beforeTail();
      return this.output(layer, out);
    }
    return this.output(layer, attention(this, layer, normed, this.style.attention));
  }

  private recurrent(layer: Layer, normed: Tensor): Tensor {
    const { model } = this;
    if (model.rules?.recurrent?.kind === "interval") return deltaNet(this, layer, normed);
    const shift = this.shifts.get(layer.index) ?? shiftRows(this, layer);
    if (model.rules?.state === "shortconv") return shortConvolution(this, layer, shift, normed);
    if (model.architecture === "mamba" || model.architecture === "jamba")
      return mamba(this, layer, shift, normed);
    return mamba2(this, layer, shift, normed);
  }

  /** Attention and Mamba 2 on one input (Falcon-H1); their sum. */
  private sideBySide(layer: Layer, hidden: Tensor, normed: Tensor): Tensor {
    const { graph, embedding } = this;
    const mixed = attention(this, layer, normed, this.style.attention);
    const shift = shiftRows(this, layer);
    let attended = mixed;
    const recurrent = mamba2(this, layer, shift, graph.op(embedding, hidden), () => {
      attended = this.output(layer, mixed);
    });
    return graph.inPlace(embedding, attended, graph.view(recurrent));
  }

  private feedForwardOnly(layer: Layer, hidden: Tensor, last: boolean, incoming: Tensor | undefined): Tensor {
    const { graph } = this;
    let fed = feedForward(this, layer, incoming ?? this.inputNorm(layer, hidden));
    let residual = hidden;
    if (last) {
      fed = this.rows(fed);
      residual = this.rows(residual);
    }
    return graph.inPlace(graph.bytesOf(fed), fed, residual);
  }

  private parallelLayer(
    layer: Layer,
    hidden: Tensor,
    last: boolean,
    kind: "shared" | "first" | "second",
    incoming: Tensor | undefined,
  ): Tensor {
    const { graph } = this;
    const normed = incoming ?? this.inputNorm(layer, hidden);
    const mixed = attention(this, layer, normed, this.style.attention);
    const project = (): Tensor => {
      const out = this.output(layer, mixed);
      return last ? this.rows(out) : out;
    };
    const early = kind === "first" ? project() : undefined;
    const own = kind === "second" ? graph.op(this.embedding, hidden) : normed;
    const fed = feedForward(this, layer, last ? this.rows(own) : own);
    const residual = last ? this.rows(hidden) : hidden;
    const bytes = graph.bytesOf(fed);
    if (early !== undefined) return graph.inPlace(bytes, graph.inPlace(bytes, early, fed), residual);
    if (kind === "second") return graph.inPlace(bytes, graph.inPlace(bytes, fed, project()), residual);
    const sum = graph.inPlace(bytes, fed, residual);
    return graph.inPlace(bytes, sum, project());
  }

  /** Of the last layer's tokens only those whose logits are asked for go on. */
  private rows(tensor: Tensor): Tensor {
    const bytes = (this.graph.bytesOf(tensor) / this.tokens) * this.outputs;
    return this.graph.op(bytes, tensor, this.input("out ids", 4 * this.outputs));
  }
}

function needsShiftAhead(model: Model, layer: Layer): boolean {
  return layer.kind === "recurrent" && model.rules?.recurrent?.kind !== "interval";
}
