import type { Architecture, WindowRule } from "./architectures";
import type { Metadata } from "./metadata";
import type { Layer, LayerKind, MlaShape, StateSize } from "./model";
import { largest } from "../lists";

interface BuiltLayers {
  readonly layers: readonly Layer[];
  readonly slidingWindow: number;
}

/**
 * What each layer keeps. Sources: llama-hparams.cpp (`n_embd_k_gqa`, `is_swa`, `is_recr`, `n_embd_r`, `n_embd_s`) and the
 * `load_hparams` of src/models/*.cpp.
 */
export function layersOf(
  meta: Metadata,
  rules: Architecture | undefined,
  count: number,
  mtpLayers: number,
  mla: MlaShape | undefined,
): BuiltLayers {
  const main = count - mtpLayers;
  const heads = meta.perLayer("attention.head_count", count) ?? new Array<number>(count).fill(0);
  const kvHeads = meta.perLayer("attention.head_count_kv", count) ?? heads;
  const feedForward = meta.perLayer("feed_forward_length", count) ?? new Array<number>(count).fill(0);
  const perHead = Math.floor((meta.integer("embedding_length") ?? 0) / largest(heads.slice(0, 1), 1));
  const keyLength = meta.integer("attention.key_length") ?? perHead;
  const valueLength = meta.integer("attention.value_length") ?? perHead;
  const keySwa = meta.integer("attention.key_length_swa") ?? keyLength;
  const valueSwa = meta.integer("attention.value_length_swa") ?? valueLength;

  const recurrent = recurrentLayers(meta, rules, main, count, kvHeads, feedForward);
  const window = windowOf(meta, rules?.window, main);
  const windowed = windowedLayers(meta, rules?.window, window, count);
  const ownsKv = ownKvRule(meta, rules, main);
  const state = stateSize(meta, rules, heads, keyLength);
  const indexer = indexerRule(meta, rules, count);
  const ratios = rules?.compressed === true ? meta.perLayer("attention.compress_ratios", count) : undefined;

  const layers = Array.from({ length: count }, (_, index): Layer => {
    const isRecurrent = recurrent[index] === true;
    const both = rules?.recurrent?.kind === "both";
    const mtp = index >= main;
    const kv = kvHeads[index] ?? 0;
    const kind = kindOf(isRecurrent && !both, rules, kv, feedForward[index] ?? 0, windowed[index] === true);
    const attends = kind === "attention" || kind === "swa";
    const shape = state(index);
    const width = attends ? indexer(index) : undefined;
    const ratio = ratios?.[index];
    return {
      index,
      kind,
      heads: heads[index] ?? 0,
      kvHeads: attends ? (mla === undefined && ratios === undefined ? kv : 1) : 0,
      keyLength: !attends ? 0 : kind === "swa" ? keySwa : keyLength,
      valueLength:
        !attends || mla !== undefined || ratios !== undefined ? 0 : kind === "swa" ? valueSwa : valueLength,
      ownsKv: attends && (mtp || ownsKv(index)),
      feedForward: feedForward[index] ?? 0,
      ...(isRecurrent && !mtp && shape !== undefined ? { state: shape } : {}),
      ...(width === undefined ? {} : { indexerWidth: width }),
      ...(ratio === undefined ? {} : { compressRatio: ratio }),
      mtp,
    };
  });
  return { layers, slidingWindow: windowed.some(Boolean) ? window : 0 };
}

function kindOf(
  recurrent: boolean,
  rules: Architecture | undefined,
  kvHeads: number,
  feedForward: number,
  windowed: boolean,
): LayerKind {
  if (recurrent) return "recurrent";
  if (rules?.noCache === true) return "none";
  if (rules?.recurrent?.kind === "noKvHeadsNoFeedForward" && (kvHeads === 0 || feedForward !== 0))
    return "none";
  if (kvHeads === 0) return "none";
  return windowed ? "swa" : "attention";
}

function recurrentLayers(
  meta: Metadata,
  rules: Architecture | undefined,
  main: number,
  count: number,
  kvHeads: readonly number[],
  feedForward: readonly number[],
): readonly boolean[] {
  const rule = rules?.recurrent;
  const given = rule === undefined ? undefined : meta.perLayer("attention.recurrent_layers", count);
  const interval = meta.integer("full_attention_interval");
  return Array.from({ length: count }, (_, il) => {
    if (rule === undefined || il >= main) return false;
    switch (rule.kind) {
      case "all":
      case "both":
        return true;
      case "noKvHeads":
        return kvHeads[il] === 0;
      case "noKvHeadsNoFeedForward":
        return kvHeads[il] === 0 && feedForward[il] === 0;
      case "interval":
        if (given !== undefined && meta.isArray("attention.recurrent_layers")) return given[il] !== 0;
        return (il + 1) % (interval ?? rule.fullAttentionEvery) !== 0;
    }
  });
}

function windowOf(meta: Metadata, rule: WindowRule | undefined, main: number): number {
  if (rule === undefined || (rule.onlyWithLayers !== undefined && rule.onlyWithLayers !== main)) return 0;
  const key = meta.integer("attention.sliding_window");
  const switchedOff = key === undefined && meta.perLayer("attention.sliding_window", 1) !== undefined;
  if (rule.fixedWindow !== undefined) {
    const needsKey = rule.denseFirst === true && key === undefined;
    return switchedOff || needsKey ? 0 : rule.fixedWindow;
  }
  return key ?? (switchedOff ? 0 : (rule.defaultWindow ?? 0));
}

function windowedLayers(
  meta: Metadata,
  rule: WindowRule | undefined,
  window: number,
  count: number,
): readonly boolean[] {
  if (rule === undefined || window === 0) return new Array<boolean>(count).fill(false);
  if (rule.period === "allAttention") return new Array<boolean>(count).fill(true);
  if (meta.isArray("attention.sliding_window_pattern")) {
    const pattern = meta.perLayer("attention.sliding_window_pattern", count) ?? [];
    return pattern.map((value) => value !== 0);
  }
  const period =
    meta.perLayer("attention.sliding_window_pattern", 1)?.[0] ??
    (rule.period === "required" ? 1 : rule.period);
  return Array.from({ length: count }, (_, il) =>
    period === 0 ? true : rule.denseFirst === true ? il % period !== 0 : il % period < period - 1,
  );
}

function ownKvRule(meta: Metadata, rules: Architecture | undefined, main: number): (il: number) => boolean {
  const from =
    rules?.sharedKvCount === true
      ? main - (meta.integer("attention.shared_kv_layers") ?? 0)
      : (rules?.sharedKvFrom ?? Infinity);
  return (il) => il < from;
}

function stateSize(
  meta: Metadata,
  rules: Architecture | undefined,
  heads: readonly number[],
  keyLength: number,
): (il: number) => StateSize | undefined {
  const embedding = meta.integer("embedding_length") ?? 0;
  const conv = Math.max(0, (meta.integer("ssm.conv_kernel") ?? 1) - 1);
  const most = largest(heads, 0);
  switch (rules?.state) {
    case undefined:
      return () => undefined;
    case "rwkv": {
      const shift = (meta.integer("token_shift_count") ?? 2) * embedding;
      return () => ({ shift, state: embedding * (meta.integer("wkv.head_size") ?? 0) });
    }
    case "shortconv": {
      const shift = embedding * Math.max(0, (meta.integer("shortconv.l_cache") ?? 1) - 1);
      return () => ({ shift, state: 0 });
    }
    case "kda": {
      const headDim = meta.integer("kda.head_dim") ?? 0;
      return (il) => {
        const n = heads[il] === 0 || heads[il] === undefined ? most : heads[il];
        return { shift: 3 * conv * headDim * n, state: headDim * headDim * n };
      };
    }
    case "linearAttention":
      return (il) => ({ shift: 0, state: keyLength * keyLength * (heads[il] ?? 0) });
    case "ssm": {
      const inner = meta.integer("ssm.inner_size") ?? 0;
      const size = meta.integer("ssm.state_size") ?? 0;
      const groups = meta.integer("ssm.group_count") ?? 0;
      return () => ({ shift: conv * (inner + 2 * groups * size), state: size * inner });
    }
  }
}

function indexerRule(
  meta: Metadata,
  rules: Architecture | undefined,
  count: number,
): (il: number) => number | undefined {
  const width = meta.integer("attention.indexer.key_length");
  if (rules?.indexer === undefined || width === undefined) return () => undefined;
  if (rules.indexer === "afterDense") {
    const dense = meta.integer("leading_dense_block_count") ?? 0;
    return (il) => (il >= dense ? width : undefined);
  }
  if (rules.indexer === "types") {
    const types = meta.perLayer("attention.indexer.types", count);
    return (il) => (types === undefined || types[il] === 1 ? width : undefined);
  }
  return () => width;
}
