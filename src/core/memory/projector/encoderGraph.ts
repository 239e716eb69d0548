import { Graph, type Tensor } from "../graph/graph";

/** Shapes of a projector's tensors by name, fastest dimension first. */
export type Shapes = ReadonlyMap<string, readonly number[]>;

export interface EncoderSizes {
  readonly layers: number;
  /** Width of the encoder. */
  readonly embedding: number;
  readonly heads: number;
  readonly feedForward: number;
  /** Positions it sees: patches, and a class token where there is one. */
  readonly positions: number;
}

export interface EncoderStyle {
  readonly rms: boolean;
  readonly flashAttention: boolean;
  /** Learned positions added at the beginning, made by the caller; leaves that are weights cost nothing. */
  readonly learned?: "weight" | Tensor;
  /** Positions Q and K are turned by: at once, or one half after the other. */
  readonly rotates?: readonly Tensor[];
  /** V goes through a norm. */
  readonly valueNorm?: boolean;
  /** What comes into and out of each product is clamped (Gemma 4's clippable linear layers). */
  readonly clamps?: boolean;
  /** Mask of layers that see a window. */
  readonly mask?: (layer: number) => Tensor | undefined;
  /** Called where the last layer has made its Q, K and V: llama.cpp puts these into the graph before all that follows. */
  readonly beforeTail?: () => void;
  /** Called with each layer's output. */
  readonly after?: (layer: number, out: Tensor) => void;
}

/** The parts all of llama.cpp's encoders are built from (tools/mtmd/clip.cpp), as far as memory goes. */
export class EncoderGraph {
  readonly graph = new Graph();

  constructor(readonly shapes: Shapes) {}

  has(name: string): boolean {
    return this.shapes.has(name);
  }

  /** A matrix and, where there is one, its bias in place; `out`: values it makes of each row. */
  linear(name: string, rows: number, from: Tensor, out: number, clamps = false): Tensor {
    const { graph } = this;
    const bytes = 4 * rows * out;
    const clamped = clamps ? graph.op(graph.bytesOf(from), from) : from;
    const product = graph.op(bytes, clamped);
    const made = clamps ? graph.inPlace(bytes, product) : product;
    return this.has(`${name}.bias`) ? graph.inPlace(bytes, made) : made;
  }

  norm(name: string, from: Tensor, rms: boolean): Tensor {
    const { graph } = this;
    const bytes = graph.bytesOf(from);
    let normed = rms ? graph.inPlace(bytes, from) : graph.op(bytes, from);
    if (this.has(`${name}.weight`)) normed = graph.inPlace(bytes, normed);
    return this.has(`${name}.bias`) ? graph.inPlace(bytes, normed) : normed;
  }

  /** Pixels convolved to `[patches, embedding]`: unrolled to columns of the kernel's type, multiplied, and put in order. */
  convolution(patches: number, kernelBytes: number, embedding: number, pixels: Tensor): Tensor {
    const { graph } = this;
    const columns = graph.op((kernelBytes / embedding) * patches, pixels);
    const product = graph.view(graph.op(4 * embedding * patches, columns));
    return graph.op(4 * embedding * patches, product);
  }

  feedForward(
    prefix: string,
    rows: number,
    from: Tensor,
    width: number,
    out: number,
    clamps = false,
  ): Tensor {
    const { graph } = this;
    const gated = this.has(`${prefix}ffn_gate.weight`);
    const made = (name: string): Tensor => this.linear(`${prefix}${name}`, rows, from, width, clamps);
    const bytes = 4 * rows * width;
    if (!gated)
      return this.linear(`${prefix}ffn_down`, rows, graph.inPlace(bytes, made("ffn_up")), out, clamps);
    const gate = made("ffn_gate");
    return this.linear(`${prefix}ffn_down`, rows, graph.op(bytes, gate, made("ffn_up")), out, clamps);
  }

  /** All layers of a vision transformer, and its norms before and behind. */
  transformer(prefix: string, input: Tensor, sizes: EncoderSizes, style: EncoderStyle): Tensor {
    const { graph } = this;
    const { embedding, positions } = sizes;
    const bytes = 4 * embedding * positions;
    let hidden = input;
    if (style.learned === "weight") hidden = graph.inPlace(bytes, hidden);
    else if (style.learned !== undefined) hidden = graph.inPlace(bytes, hidden, style.learned);
    if (this.has(`${prefix}.pre_ln.weight`)) hidden = this.norm(`${prefix}.pre_ln`, hidden, style.rms);
    for (let layer = 0; layer < sizes.layers; layer++) {
      hidden = this.layer(`${prefix}.blk.${layer}.`, hidden, sizes, style, layer);
      style.after?.(layer, hidden);
    }
    return this.has(`${prefix}.post_ln.weight`) ? this.norm(`${prefix}.post_ln`, hidden, style.rms) : hidden;
  }

  private layer(
    block: string,
    residual: Tensor,
    sizes: EncoderSizes,
    style: EncoderStyle,
    index: number,
  ): Tensor {
    const { graph } = this;
    const { embedding, positions, feedForward } = sizes;
    const bytes = 4 * embedding * positions;
    const clamps = style.clamps === true;
    const normed = this.norm(`${block}ln1`, residual, style.rms);
    const attended = this.attention(block, normed, sizes, style, index);
    let mixed = this.linear(`${block}attn_out`, positions, attended, embedding, clamps);
    if (this.has(`${block}ls1.weight`)) mixed = graph.inPlace(bytes, mixed);
    if (this.has(`${block}attn_post_norm.weight`))
      mixed = this.norm(`${block}attn_post_norm`, mixed, style.rms);
    const middle = graph.inPlace(bytes, mixed, residual);
    const second = this.norm(`${block}ln2`, middle, style.rms);
    let fed = this.feedForward(block, positions, second, feedForward, embedding, clamps);
    if (this.has(`${block}ffn_post_norm.weight`)) fed = this.norm(`${block}ffn_post_norm`, fed, style.rms);
    if (this.has(`${block}ls2.weight`)) fed = graph.inPlace(bytes, fed);
    return graph.inPlace(bytes, middle, fed);
  }

  private attention(
    block: string,
    normed: Tensor,
    { layers, embedding, positions, heads }: EncoderSizes,
    style: EncoderStyle,
    index: number,
  ): Tensor {
    const { graph } = this;
    const bytes = 4 * embedding * positions;
    const turned = (tensor: Tensor, norm: string): Tensor => {
      const normed = this.has(`${block}${norm}.weight`);
      const own = normed ? graph.inPlace(bytes, graph.op(bytes, tensor)) : tensor;
      return (style.rotates ?? []).reduce((turned, position) => graph.inPlace(bytes, turned, position), own);
    };
    const fused = this.has(`${block}attn_qkv.weight`)
      ? this.linear(`${block}attn_qkv`, positions, normed, 3 * embedding)
      : undefined;
    const made = (name: string): Tensor =>
      graph.view(
        fused ?? this.linear(`${block}${name}`, positions, normed, embedding, style.clamps === true),
      );
    const q = turned(made("attn_q"), "attn_q_norm");
    const k = turned(made("attn_k"), "attn_k_norm");
    const plain = made("attn_v");
    const v = style.valueNorm === true ? graph.op(bytes, plain) : plain;
    if (index === layers - 1) style.beforeTail?.();
    const mask = style.mask?.(index);
    const others = mask === undefined ? [] : [mask];
    if (style.flashAttention) {
      const halfK = graph.op(bytes / 2, graph.view(k));
      const halfV = graph.op(bytes / 2, graph.view(v));
      return graph.view(graph.op(bytes, graph.view(q), halfK, halfV, ...others));
    }
    const values = graph.op(bytes, graph.view(v));
    const scores = graph.op(4 * positions * positions * heads, graph.view(k), graph.view(q));
    const weights = graph.inPlace(graph.bytesOf(scores), scores, ...others);
    return graph.op(bytes, graph.view(graph.op(bytes, values, weights)));
  }
}
