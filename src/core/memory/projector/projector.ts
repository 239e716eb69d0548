import { largest } from "../../lists";
import type { GgufHeader, MetadataValue } from "../../model/ggufHeader";
import { isReplayed, visionCompute, type VisionBytes, type VisionSpec } from "./visionGraphs";
import { ownValue } from "../../ownValue";

/** Typed view of a multimodal projector's header (`--mmproj`). */
export interface Projector {
  readonly weightsBytes: number;
  readonly vision: (VisionSpec & { readonly sizes: ImageSizes }) | undefined;
  /** Encoders whose compute buffer is not replayed, by their projector's type. */
  readonly notReplayed: readonly string[];
}

/** Tokens of an image; `undefined`: every image, or each of its tiles, has the size of the header. */
interface ImageSizes {
  /** What the buffer is reserved for at the load (`set_warmup_n_tokens`), without `--image-max-tokens`. */
  readonly atLoad: number | undefined;
  /** The largest one is resized to (`set_limit_image_tokens`). */
  readonly most: number | undefined;
}

interface KindRule {
  readonly mergeKey: string;
  readonly merge: number;
  readonly sizes: ImageSizes;
}

const fixed: ImageSizes = { atLoad: undefined, most: undefined };
const scale = "clip.vision.projector.scale_factor";
const spatial = "clip.vision.spatial_merge_size";
const qwen: KindRule = { mergeKey: spatial, merge: 2, sizes: { atLoad: 46 * 46, most: 4096 } };

/** As `clip_model_loader::load_hparams` sets them (tools/mtmd/clip.cpp, b11669). */
const rules: Readonly<Record<string, KindRule>> = {
  gemma3: { mergeKey: scale, merge: 4, sizes: fixed },
  gemma4v: { mergeKey: scale, merge: 3, sizes: { atLoad: 256, most: 512 } },
  idefics3: { mergeKey: scale, merge: 1, sizes: fixed },
  internvl: { mergeKey: scale, merge: 1, sizes: fixed },
  lfm2: { mergeKey: scale, merge: 1, sizes: { atLoad: 256, most: 256 } },
  mlp: { mergeKey: "", merge: 1, sizes: fixed },
  pixtral: { mergeKey: spatial, merge: 1, sizes: { atLoad: 256, most: 1024 } },
  qwen2vl_merger: qwen,
  "qwen2.5vl_merger": qwen,
  qwen3vl_merger: qwen,
};

export function projectorOf({ metadata, tensors }: GgufHeader): Projector {
  const text = (key: string): string => {
    const value = metadata.get(key);
    return typeof value === "string" ? value : "";
  };
  const has = (key: string): boolean => metadata.get(key) === true;
  const both = text("clip.projector_type");
  const seeing = both === "" ? text("clip.vision.projector_type") : both;
  const hearing = both === "" ? text("clip.audio.projector_type") : both;
  const vision = has("clip.has_vision_encoder") ? visionOf(seeing, { metadata, tensors }) : undefined;
  return {
    weightsBytes: tensors.reduce((sum, { bytes }) => sum + Math.max(0, bytes), 0),
    vision,
    notReplayed: [
      ...(has("clip.has_vision_encoder") && vision === undefined ? [seeing] : []),
      ...(has("clip.has_audio_encoder") ? [hearing] : []),
    ],
  };
}

function visionOf(
  type: string,
  { metadata, tensors }: Pick<GgufHeader, "metadata" | "tensors">,
): Projector["vision"] {
  // one type for both ears and eyes
  const kind = type === "qwen2.5o" ? "qwen2.5vl_merger" : type;
  const rule = ownValue(rules, kind);
  if (rule === undefined || !isReplayed(kind)) return undefined;
  // features of several layers side by side
  if (metadata.has("clip.vision.feature_layer")) return undefined;
  const number = (key: string): number => wholeNumber(metadata.get(`clip.vision.${key}`));
  const sized = (name: string): { readonly bytes: number; readonly shape: readonly number[] } | undefined =>
    tensors.find((tensor) => tensor.name === name);
  const kernel = sized("v.patch_embd.weight");
  const projection = ["mm.2.weight", "mm.model.mlp.3.weight", "mm.model.fc.weight"].find((name) =>
    sized(name),
  );
  const turned = sized("mm.input_projection.weight");
  const spec = {
    kind,
    shapes: new Map(tensors.map(({ name, shape }) => [name, shape])),
    layers: number("block_count"),
    embedding: number("embedding_length"),
    heads: number("attention.head_count"),
    // 0 in older files, of which some have the two matrices' names the other way round
    feedForward: number("feed_forward_length") || largest(sized("v.blk.0.ffn_up.weight")?.shape ?? [], 0),
    patch: number("patch_size"),
    kernelBytes: kernel?.bytes ?? 0,
    turnedBytes: kind === "gemma3" ? (turned?.bytes ?? 0) : 0,
    imageSize: number("image_size"),
    merge: wholeNumber(metadata.get(rule.mergeKey)) || rule.merge,
    textEmbedding:
      projection !== undefined
        ? (sized(projection)?.shape[1] ?? 0)
        : (turned?.shape[kind === "gemma3" ? 0 : 1] ?? 0),
    windowPattern: number("n_wa_pattern"),
    sizes: rule.sizes,
  };
  return sensible(spec) ? spec : undefined;
}

/** A header that lies must not make a replay endless. */
function sensible(spec: VisionSpec): boolean {
  const { layers, embedding, heads, feedForward, patch, imageSize, merge, textEmbedding } = spec;
  return (
    [layers, embedding, heads, feedForward, patch, merge, textEmbedding].every((value) => value > 0) &&
    layers <= 1000 &&
    imageSize <= 1 << 16 &&
    merge <= 64 &&
    [embedding, feedForward, textEmbedding].every((value) => value <= 1 << 24)
  );
}

function wholeNumber(value: MetadataValue | undefined): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : 0;
}

export interface ProjectorNeed {
  /** At the load. */
  readonly atLoad: VisionBytes;
  /** For the largest image: llama.cpp reserves anew when one comes. */
  readonly largest: VisionBytes;
}

const none: ProjectorNeed = { atLoad: { compute: 0, inputs: 0 }, largest: { compute: 0, inputs: 0 } };
const needs = new WeakMap<Projector, Map<string, ProjectorNeed>>();

/** What the encoders need beside their weights, as far as it is replayed. */
export function projectorNeed(
  projector: Projector,
  flashAttention: boolean,
  imageMaxTokens: number | undefined,
): ProjectorNeed {
  const { vision } = projector;
  if (vision === undefined) return none;
  const known = needs.get(projector) ?? new Map<string, ProjectorNeed>();
  needs.set(projector, known);
  const key = `${flashAttention} ${imageMaxTokens}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const { atLoad, most } = vision.sizes;
  const limit = imageMaxTokens !== undefined && imageMaxTokens > 0 ? imageMaxTokens : most;
  const sized = (tokens: number | undefined): VisionBytes =>
    visionCompute(vision, sideOf(vision, tokens), flashAttention);
  const first = sized(atLoad === undefined ? undefined : Math.min(atLoad, limit ?? atLoad));
  const need = { atLoad: first, largest: most === undefined ? first : sized(limit) };
  known.set(key, need);
  return need;
}

/** Pixels a side of a square image with so many tokens. */
const sideOf = ({ patch, merge, imageSize }: VisionSpec, tokens: number | undefined): number =>
  tokens === undefined ? imageSize : Math.floor(Math.sqrt(tokens)) * patch * merge;
