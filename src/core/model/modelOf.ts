import { bytes, say } from "../text";
import { architectures } from "./architectures";
import type { GgufHeader } from "./ggufHeader";
import { layersOf } from "./layers";
import { maxLayers, metadataOf, type Metadata } from "./metadata";
import type { Experts, MlaShape, Model, ModelWarning, RopeScaling } from "./model";
import { tensorSizes } from "./tensorSizes";

/** Architectures that read `rope.dimension_sections`. */
const sectioned =
  /^(qwen2vl|qwen3vl|qwen3vlmoe|qwen35|qwen35moe|qwen3tts|paddleocr|hunyuan_vl|glm4|glm4moe)$/;
/**
 * Hyper-parameters as llama.cpp's `load_hparams` reads them. Throws a `UserError` for a number that cannot be true, before
 * anything is sized by it.
 */
export function modelOf(header: GgufHeader): Model {
  const meta = metadataOf(header);
  const rules = architectures.get(meta.architecture);
  const warnings: ModelWarning[] = [];
  if (rules === undefined) {
    warnings.push({
      code: "architectureUnknown",
      message: say`The architecture "${meta.architecture}" is not supported: weights are exact, the KV cache is computed as for a plain transformer, and compute buffers are a rough guess.`,
    });
  }
  const blocks = meta.integer("block_count") ?? 0;
  if (rules?.loops === true) meta.expect("num_loops", 1, Math.floor(maxLayers / Math.max(1, blocks)));
  const stored = rules?.loops === true ? blocks * (meta.integer("num_loops") ?? 1) : blocks;
  // all blocks but one may be for multi-token prediction
  meta.expect("nextn_predict_layers", 0, Math.max(0, blocks - 1));
  const mtpLayers = meta.integer("nextn_predict_layers") ?? 0;
  const contextLength = meta.integer("context_length") ?? 0;
  if (contextLength === 0) {
    warnings.push({ code: "noContextLength", message: say`The header does not specify a training context.` });
  }
  if (header.tensors.length === 0) {
    warnings.push({
      code: "noTensors",
      message: say`The header lists no tensors: weights are counted as ${bytes(0)}.`,
    });
  }
  if (header.truncated === true) {
    warnings.push({
      code: "fileTruncated",
      message: say`The file ends before its last tensor: llama-server stops with "data is not within the file bounds, model is corrupted or incomplete". Download it again.`,
    });
  }
  const mla = mlaOf(meta);
  const built = layersOf(meta, rules, stored, mtpLayers, mla);
  for (const key of meta.doubts) {
    warnings.push({
      code: "headerValueIgnored",
      message: say`The header's list ${key} has fewer values than the model has layers: the missing ones count as 0.`,
    });
  }
  const embedding = header.tensors.find((tensor) => tensor.name === "token_embd.weight");
  return {
    architecture: meta.architecture,
    rules,
    name: meta.text("general.name"),
    contextLength,
    rope: ropeScalingOf(meta, header),
    embeddingLength: meta.integer("embedding_length") ?? 0,
    vocabularySize: meta.integer("vocab_size") ?? embedding?.shape[1] ?? header.vocabularySize ?? 0,
    layers: built.layers,
    mtpLayers,
    slidingWindow: built.slidingWindow,
    mla,
    experts: expertsOf(meta),
    stateKeys: {
      innerSize: meta.integer("ssm.inner_size") ?? 0,
      stateSize: meta.integer("ssm.state_size") ?? 0,
      groupCount: meta.integer("ssm.group_count") ?? 0,
      convKernel: meta.integer("ssm.conv_kernel") ?? 0,
      timeStepRank: meta.integer("ssm.time_step_rank") ?? 0,
      headSize: meta.integer("wkv.head_size") ?? meta.integer("kda.head_dim") ?? 0,
    },
    indexerHeads: meta.integer("attention.indexer.head_count") ?? 0,
    indexerKeyLength: meta.integer("attention.indexer.key_length") ?? 0,
    positionSections:
      sectioned.test(meta.architecture) &&
      (meta.perLayer("rope.dimension_sections", 4) ?? []).some((section) => section > 0),
    temperatureScale: (meta.number("attention.temperature_scale") ?? 0) > 0,
    ropeDimensions: meta.integer("rope.dimension_count") ?? 0,
    perLayerEmbedding: meta.integer("embedding_length_per_layer_input") ?? 0,
    causal: header.metadata.get(`${meta.architecture}.attention.causal`) !== false,
    poolingType: meta.integer("pooling_type") ?? 0,
    tensors: tensorSizes(header, blocks),
    warnings,
  };
}

function ropeScalingOf(meta: Metadata, { tensors }: GgufHeader): RopeScaling {
  const type = meta.text(`${meta.architecture}.rope.scaling.type`);
  const factor = meta.number("rope.scaling.factor") ?? meta.number("rope.scale_linear");
  const originalContext = meta.integer("rope.scaling.original_context_length");
  const rotates =
    meta.number("rope.freq_base") !== undefined || meta.integer("rope.dimension_count") !== undefined;
  return {
    rotates,
    factors: tensors.some(({ name }) => /\brope_(freqs|factors_long)\b/.test(name)),
    ...(type !== undefined && { type }),
    ...(factor !== undefined && { factor }),
    ...(originalContext !== undefined && { originalContext }),
  };
}

function mlaOf(meta: Metadata): MlaShape | undefined {
  const keyLength = meta.integer("attention.key_length_mla");
  const valueLength = meta.integer("attention.value_length_mla");
  if (keyLength === undefined || valueLength === undefined) return undefined;
  const kvLoraRank = meta.integer("attention.kv_lora_rank") ?? 0;
  return { kvLoraRank, ropeDimensions: meta.integer("rope.dimension_count") ?? 0, keyLength, valueLength };
}

function expertsOf(meta: Metadata): Experts | undefined {
  const count = meta.integer("expert_count");
  if (count === undefined) return undefined;
  meta.expect("expert_used_count", 0, count);
  const feedForward = meta.integer("expert_feed_forward_length") ?? meta.integer("feed_forward_length") ?? 0;
  return {
    count,
    used: meta.integer("expert_used_count") ?? 0,
    feedForward,
    sharedFeedForward:
      meta.integer("expert_shared_feed_forward_length") ??
      feedForward * (meta.integer("expert_shared_count") ?? 0),
    leadingDense: meta.integer("leading_dense_block_count") ?? 0,
  };
}
