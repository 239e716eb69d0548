import type { Tensor } from "../graph/graph";
import { EncoderGraph, type EncoderSizes, type EncoderStyle, type Shapes } from "./encoderGraph";

/** One image, as an encoder sees it. */
export interface VisionSpec {
  readonly kind: string;
  readonly shapes: Shapes;
  readonly layers: number;
  readonly embedding: number;
  readonly heads: number;
  readonly feedForward: number;
  readonly patch: number;
  /** Bytes of the first convolution's kernels, one for each value of the embedding. */
  readonly kernelBytes: number;
  /** Bytes of the matrix that Gemma 3 stores the other way round; 0 elsewhere. */
  readonly turnedBytes: number;
  /** Side of the image the learned positions are for. */
  readonly imageSize: number;
  /** Patches on each side that become one token. */
  readonly merge: number;
  /** Width of the language model. */
  readonly textEmbedding: number;
  /** Every so many layers one sees everything, the others a window; 0: all see everything. */
  readonly windowPattern: number;
}

type Build = (parts: Parts) => void;

/** Kinds that are replayed; of the others the size is not computed. */
const visionGraphs: ReadonlyMap<string, Build> = new Map<string, Build>([
  ["gemma3", gemma3],
  ["idefics3", idefics3],
  ["lfm2", lfm2],
  ["qwen2vl_merger", qwen2],
  ["qwen2.5vl_merger", qwen2],
  ["qwen3vl_merger", qwen3],
  ["gemma4v", gemma4],
  ["mlp", llava],
  ["pixtral", pixtral],
  ["internvl", internVl],
]);

export const isReplayed = (kind: string): boolean => visionGraphs.has(kind);

/** Bytes for one image. */
export interface VisionBytes {
  readonly compute: number;
  /** Pixels, positions and masks, which the host keeps where the encoder is on a device. */
  readonly inputs: number;
}

/** Compute buffer for one image of so many pixels a side, of a kind that is replayed. */
export function visionCompute(spec: VisionSpec, side: number, flashAttention: boolean): VisionBytes {
  const parts = new Parts(spec, side, flashAttention);
  visionGraphs.get(spec.kind)?.(parts);
  return { compute: parts.encoder.graph.reserve([32])[0] ?? 0, inputs: parts.inputBytes };
}

class Parts {
  readonly encoder: EncoderGraph;
  readonly patches: number;
  readonly pixels: Tensor;
  inputBytes = 0;

  constructor(
    readonly spec: VisionSpec,
    side: number,
    readonly flashAttention: boolean,
  ) {
    this.encoder = new EncoderGraph(spec.shapes);
    this.patches = Math.floor(side / spec.patch) ** 2;
    this.pixels = this.given(4 * 3 * side * side);
  }

  /** An input of the graph. */
  given(bytes: number): Tensor {
    this.inputBytes += bytes;
    return this.encoder.graph.input(bytes);
  }

  /** f32 bytes of `width` values for each of `rows`. */
  wide(rows: number, width = this.spec.embedding): number {
    return 4 * rows * width;
  }

  get tokens(): number {
    return Math.floor(this.patches / this.spec.merge ** 2);
  }

  input(): Tensor {
    const { encoder, spec, patches } = this;
    const convolved = encoder.convolution(patches, spec.kernelBytes, spec.embedding, this.pixels);
    const cut = this.copy(this.wide(patches), convolved);
    return encoder.has("v.patch_embd.bias") ? encoder.graph.inPlace(this.wide(patches), cut) : cut;
  }

  /** With the class token behind. */
  withClass(input: Tensor): Tensor {
    const { graph } = this.encoder;
    return graph.op(this.wide(this.patches + 1), input, graph.op(this.wide(1)));
  }

  sizes(positions = this.patches, layers = this.spec.layers): EncoderSizes {
    const { embedding, heads, feedForward } = this.spec;
    return { layers, embedding, heads, feedForward, positions };
  }

  style(style: Partial<EncoderStyle>): EncoderStyle {
    return { rms: false, flashAttention: this.flashAttention, ...style };
  }

  copy(bytes: number, tensor: Tensor): Tensor {
    const { graph } = this.encoder;
    return graph.op(bytes, graph.view(tensor));
  }

  /** Positions learned for another size of image, interpolated. */
  resizedPositions(): Tensor | "weight" {
    const { graph } = this.encoder;
    const learned = this.spec.imageSize / this.spec.patch;
    if (learned ** 2 === this.patches) return "weight";
    const bytes = this.wide(this.patches);
    return this.copy(bytes, graph.op(bytes));
  }

  /** Neighbouring patches beside each other (pixel shuffle): two copies. */
  merged(tensor: Tensor): Tensor {
    const bytes = this.wide(this.patches);
    return this.copy(bytes, this.copy(bytes, tensor));
  }

  /** Two matrices with an activation between. */
  project(first: string, second: string, from: Tensor, rows: number): Tensor {
    const { encoder, spec } = this;
    const width = (name: string): number => spec.shapes.get(`${name}.weight`)?.[1] ?? spec.textEmbedding;
    const inner = encoder.linear(first, rows, from, width(first));
    const active = encoder.graph.inPlace(encoder.graph.bytesOf(inner), inner);
    return encoder.linear(second, rows, active, width(second));
  }
}

function gemma3(parts: Parts): void {
  const { encoder, spec, patches, tokens } = parts;
  const { graph } = encoder;
  let matrix = 0;
  const hidden = encoder.transformer(
    "v",
    parts.input(),
    parts.sizes(),
    parts.style({
      learned: "weight",
      beforeTail: () => (matrix = graph.op(spec.turnedBytes)),
    }),
  );
  const pooled = graph.op(parts.wide(tokens), parts.copy(parts.wide(patches), hidden));
  const normed = graph.inPlace(parts.wide(tokens), parts.copy(parts.wide(tokens), pooled));
  const weighed = graph.inPlace(parts.wide(tokens), normed);
  graph.op(parts.wide(tokens, spec.textEmbedding), matrix, weighed);
}

function idefics3(parts: Parts): void {
  const { encoder, spec, tokens } = parts;
  const style = parts.style({ learned: "weight" });
  const hidden = encoder.transformer("v", parts.input(), parts.sizes(), style);
  encoder.graph.op(parts.wide(tokens, spec.textEmbedding), parts.merged(hidden));
}

function lfm2(parts: Parts): void {
  const { encoder, tokens } = parts;
  const input = parts.input();
  const style = parts.style({ learned: parts.resizedPositions() });
  const hidden = encoder.transformer("v", input, parts.sizes(), style);
  const merged = parts.merged(hidden);
  const normed = encoder.has("mm.input_norm.weight") ? encoder.norm("mm.input_norm", merged, false) : merged;
  parts.project("mm.1", "mm.2", normed, tokens);
}

/** Two kernels, one for each frame, and patches in the order of their merging. */
function qwenInput(parts: Parts): Tensor {
  const { encoder, spec, patches } = parts;
  const { graph } = encoder;
  const bytes = parts.wide(patches);
  const first = encoder.convolution(patches, spec.kernelBytes, spec.embedding, parts.pixels);
  const second = encoder.convolution(patches, spec.kernelBytes, spec.embedding, parts.pixels);
  const sum = graph.inPlace(bytes, first, second);
  const ordered = parts.copy(bytes, parts.copy(bytes, sum));
  return encoder.has("v.patch_embd.bias") ? graph.inPlace(bytes, ordered) : ordered;
}

function qwen2(parts: Parts): void {
  const { encoder, spec, patches, tokens } = parts;
  const { graph } = encoder;
  const bytes = parts.wide(patches);
  let input = qwenInput(parts);
  const positions = parts.given(16 * patches);
  const windows = spec.windowPattern > 0;
  let mask: Tensor | undefined;
  if (windows) {
    const order = parts.given(patches);
    mask = parts.given((parts.flashAttention ? 2 : 4) * patches * patches);
    input = graph.view(graph.op(bytes, graph.view(input), order));
  }
  const style = parts.style({
    rms: spec.kind === "qwen2.5vl_merger",
    rotates: [positions],
    mask: (layer) => ((layer + 1) % spec.windowPattern === 0 ? undefined : mask),
  });
  const hidden = encoder.transformer("v", input, parts.sizes(), style);
  const projected = parts.project("mm.0", "mm.2", graph.view(hidden), tokens);
  if (windows) graph.op(parts.wide(tokens, spec.textEmbedding), graph.view(projected), parts.given(patches));
}

function qwen3(parts: Parts): void {
  const { encoder, patches, tokens } = parts;
  const { graph } = encoder;
  const bytes = parts.wide(patches);
  const input = qwenInput(parts);
  const learned = parts.resizedPositions();
  const ordered =
    learned === "weight" ? graph.op(bytes, graph.op(bytes)) : parts.copy(bytes, parts.copy(bytes, learned));
  const positions = parts.given(16 * patches);
  const kept: (readonly [layer: number, out: Tensor])[] = [];
  const style = parts.style({
    learned: ordered,
    rotates: [positions],
    after: (layer, out) => {
      if (encoder.has(`v.deepstack.${layer}.fc1.weight`)) kept.push([layer, out]);
    },
  });
  const hidden = encoder.transformer("v", input, parts.sizes(), style);
  const projected = parts.project("mm.0", "mm.2", graph.view(hidden), tokens);
  let stack: Tensor | undefined;
  for (const [layer, out] of kept) {
    const normed = encoder.norm(`v.deepstack.${layer}.norm`, graph.view(out), false);
    const feature = parts.project(`v.deepstack.${layer}.fc1`, `v.deepstack.${layer}.fc2`, normed, tokens);
    const both = stack === undefined ? 0 : graph.bytesOf(stack) + graph.bytesOf(feature);
    stack = stack === undefined ? feature : graph.op(both, stack, feature);
  }
  if (stack !== undefined) graph.op(graph.bytesOf(projected) + graph.bytesOf(stack), projected, stack);
}

function gemma4(parts: Parts): void {
  const { encoder, spec, patches, tokens } = parts;
  const { graph } = encoder;
  const bytes = parts.wide(patches);
  const scaled = graph.inPlace(graph.bytesOf(parts.pixels), parts.pixels);
  const cut = parts.copy(bytes, encoder.convolution(patches, spec.kernelBytes, spec.embedding, scaled));
  const [x, y] = [parts.given(4 * patches), parts.given(4 * patches)];
  let input = graph.inPlace(bytes, cut, graph.op(bytes, x));
  input = graph.inPlace(bytes, input, graph.op(bytes, y));
  const clamps = [...spec.shapes.keys()].some((name) => name.endsWith(".input_max"));
  const style = parts.style({ rms: true, rotates: [x, y], valueNorm: true, clamps });
  const hidden = encoder.transformer("v", input, parts.sizes(), style);
  const few = parts.wide(tokens);
  const pooled = graph.op(few, parts.copy(bytes, hidden));
  let out = graph.inPlace(few, parts.copy(few, pooled));
  if (encoder.has("v.std_bias")) out = graph.inPlace(few, graph.inPlace(few, out));
  encoder.linear("mm.input_projection", tokens, graph.inPlace(few, out), spec.textEmbedding, clamps);
}

function llava(parts: Parts): void {
  const { encoder, spec, patches } = parts;
  const { graph } = encoder;
  const positions = patches + (encoder.has("v.class_embd") ? 1 : 0);
  const bytes = parts.wide(positions);
  const input = encoder.has("v.class_embd") ? parts.withClass(parts.input()) : parts.input();
  const learned = graph.op(bytes, parts.given(4 * positions));
  // features are taken from the layer before the last
  const layers = spec.layers - 1;
  const hidden = encoder.transformer("v", input, parts.sizes(positions, layers), parts.style({ learned }));
  const chosen = graph.op(parts.wide(patches), graph.view(hidden), parts.given(4 * patches));
  parts.project("mm.0", "mm.2", chosen, patches);
}

function pixtral(parts: Parts): void {
  const { encoder, spec, tokens } = parts;
  const { graph } = encoder;
  const rotates = [parts.given(4 * parts.patches), parts.given(4 * parts.patches)];
  const hidden = encoder.transformer("v", parts.input(), parts.sizes(), parts.style({ rms: true, rotates }));
  const projected = parts.project("mm.1", "mm.2", patchMerger(parts, hidden), tokens);
  if (!encoder.has("v.token_embd.img_break")) return;
  const rows = Math.sqrt(tokens);
  const line = parts.wide(rows, spec.textEmbedding);
  const breaks = graph.inPlace(line, graph.input(line));
  graph.op(parts.wide(tokens + rows, spec.textEmbedding), graph.view(projected), breaks);
}

/** Neighbours side by side through a convolution's unrolling, and one matrix (Mistral Small 3.1). */
function patchMerger(parts: Parts, hidden: Tensor): Tensor {
  const { encoder, spec, patches, tokens } = parts;
  const { graph } = encoder;
  if (!encoder.has("mm.patch_merger.weight")) return hidden;
  const bytes = parts.wide(patches);
  const normed = graph.inPlace(bytes, graph.inPlace(bytes, hidden));
  const columns = graph.op(bytes, parts.copy(bytes, normed));
  return graph.op(parts.wide(tokens, spec.embedding), columns);
}

function internVl(parts: Parts): void {
  const { encoder, spec, patches, tokens } = parts;
  const { graph } = encoder;
  const input = parts.withClass(parts.input());
  const rms = spec.embedding === 3200 && spec.layers === 45;
  const style = parts.style({ rms, learned: "weight" });
  const hidden = encoder.transformer("v", input, parts.sizes(patches + 1), style);
  const normed = encoder.norm("mm.model.mlp.0", parts.merged(graph.view(hidden)), false);
  parts.project("mm.model.mlp.1", "mm.model.mlp.3", normed, tokens);
}
