import { say, type Text } from "../text";

/** What an option is for, in our words, and the build that brought it where that matters. */
export interface OptionHelp {
  readonly text: Text;
  readonly since?: number;
}

const help = (text: Text, since?: number): OptionHelp => (since === undefined ? { text } : { text, since });

/** Help for the options that decide about context, memory and speed, by main name. */
export const optionHelp: Readonly<Record<string, OptionHelp>> = {
  "--model": help(say`The GGUF file. Relative paths start at the folder the server was started in.`),
  "--hf-repo": help(
    say`A Hugging Face repository USER/MODEL, optionally followed by :QUANT; it is downloaded and cached.`,
  ),
  "--hf-file": help(say`Which file of the Hugging Face repository.`),
  "--model-url": help(say`URL to download the model file from.`),
  "--mmproj": help(say`Multimodal projector; needs its own memory in addition to the model.`),
  "--mmproj-auto": help(say`Use the projector that is downloaded with a model.`),
  "--mmproj-offload": help(say`Put the projector on the GPU.`),
  "--ctx-size": help(
    say`Tokens the KV cache holds, for all slots together. 0: the model's whole training context. If not set, -fit may choose less.`,
  ),
  "--parallel": help(
    say`Slots, that is, requests processed at the same time. A fixed number divides the context among them unless the cache is unified; -1 creates four with a unified cache.`,
  ),
  "--kv-unified": help(
    say`One KV cache for all slots: each may use the whole context, but not all of them at once.`,
    5913,
  ),
  "--kv-unified-per-slot": help(say`Limit of one slot inside a unified cache.`, 10471),
  "--batch-size": help(
    say`Tokens passed to the model in one call while reading a prompt; also the steps of the progress.`,
  ),
  "--ubatch-size": help(
    say`Tokens processed at once. A larger value reads prompts faster on a GPU, and compute buffers (and sliding-window caches) grow with it.`,
  ),
  "--flash-attn": help(
    say`Attention without storing the scores: compute buffers stay small, and V may be quantised. It does not shrink the KV cache.`,
    6325,
  ),
  "--cache-type-k": help(
    say`Type of K in the KV cache. f16 needs 2 bytes per element, q8_0 1.06, q4_0 0.56.`,
  ),
  "--cache-type-v": help(say`Type of V in the KV cache. A quantised one needs flash attention.`),
  "--swa-full": help(
    say`Keep all tokens in the caches of sliding-window layers: more of a prompt can be reused, at the cost of much more memory.`,
    5429,
  ),
  "--kv-offload": help(
    say`Keep the KV cache on the GPU with its layers. Off: in main memory, with attention on the CPU.`,
  ),
  "--op-offload": help(say`Copy weights from main memory to the GPU for large batches.`),
  "--repack": help(say`Rearrange weights for the CPU: faster, but uses a private copy in memory.`),
  "--no-host": help(say`Do not use pinned host buffers, so that other buffer types can be used.`),
  "--load-mode": help(say`How the file is loaded: mapped, locked in memory, directly, or copied.`, 10105),
  "--lazy-mode": help(say`Keep large tables (per-layer embeddings) on disk and read rows as needed.`),
  "--n-gpu-layers": help(
    say`Layers on the GPU, counted from the last; auto lets -fit choose, all offloads every layer and the output.`,
  ),
  "--split-mode": help(say`How several GPUs share the model: whole layers, rows or tensors.`),
  "--tensor-split": help(
    say`Share of the model for each GPU; by free memory if not set. Keeps -fit from moving layers.`,
  ),
  "--main-gpu": help(say`The GPU used with split mode none, or for small results with row.`),
  "--device": help(say`Devices to use, by name; none for the CPU alone.`),
  "--rpc": help(say`ggml-rpc-servers (HOST:PORT) whose devices are also used.`),
  "--override-tensor": help(
    say`Put tensors whose name matches a pattern into a buffer of your choice; the first match counts.`,
  ),
  "--cpu-moe": help(say`Keep all experts in main memory.`),
  "--n-cpu-moe": help(say`Keep the experts of the first N layers in main memory.`),
  "--n-cpu-ffn": help(say`Keep the feed-forward weights of the first N layers in main memory.`, 10471),
  "--moe-cache-mib": help(say`GPU memory used to cache experts that are in main memory.`, 10471),
  "--fit": help(
    say`Before loading, reduce a context that was not set and move layers to main memory until every device keeps its margin.`,
    7407,
  ),
  "--fit-target": help(say`MiB that -fit leaves free on each device.`, 7407),
  "--fit-ctx": help(say`The minimum context -fit may choose.`, 7407),
  "--cache-ram": help(
    say`MiB of main memory for caching prompts of earlier conversations. 0: off, -1: no limit.`,
    6723,
  ),
  "--swa-checkpoints": help(
    say`Snapshots per slot from which a changed prompt can continue, for models whose state cannot be rolled back. They are kept in main memory.`,
    6685,
  ),
  "--checkpoint-min-step": help(say`Minimum distance between two context checkpoints, in tokens.`),
  "--cache-idle-slots": help(
    say`Move the content of idle slots to the prompt cache when a new request arrives.`,
  ),
  "--context-shift": help(
    say`When the context fills up during an answer, discard old tokens and continue. Never makes a long prompt fit.`,
  ),
  "--keep": help(say`Tokens at the beginning that a context shift keeps.`),
  "--cache-prompt": help(say`Reuse the part of a prompt that is still in the slot.`),
  "--cache-reuse": help(say`Minimum length of moved pieces that are reused by shifting the cache. 0: off.`),
  "--slot-prompt-similarity": help(
    say`How much of a prompt must match a slot's content for that slot to be chosen.`,
  ),
  "--spec-type": help(say`How tokens are drafted: by MTP layers, a draft model or n-grams.`, 9180),
  "--model-draft": help(
    say`A small draft model; its weights and a KV cache for the same context are needed in addition.`,
  ),
  "--hf-repo-draft": help(say`Hugging Face repository of the draft model.`),
  "--spec-draft-n-max": help(say`Tokens drafted at once. Recurrent models keep a state for each of them.`),
  "--spec-draft-n-min": help(say`Drafts with fewer tokens than this are not used.`),
  "--spec-draft-n-ubatch": help(say`Physical batch of the draft context; smaller saves memory.`),
  "--cache-type-k-draft": help(say`Type of K in the draft's KV cache.`),
  "--cache-type-v-draft": help(say`Type of V in the draft's KV cache.`),
  "--n-gpu-layers-draft": help(say`Layers of the draft model on the GPU.`),
  "--device-draft": help(say`Devices for the draft model.`),
  "--rope-scaling": help(say`How positions beyond the training context are scaled: none, linear or yarn.`),
  "--rope-scale": help(
    say`Factor by which the context is extended. Only with --rope-scaling yarn may a slot then hold more than the training context.`,
  ),
  "--rope-freq-base": help(say`Base frequency of the rotary position encoding; the model's own by default.`),
  "--rope-freq-scale": help(say`1 divided by the factor of --rope-scale.`),
  "--yarn-orig-ctx": help(say`Training context that YaRN starts from.`),
  "--override-kv": help(
    say`Override metadata of the model, KEY=TYPE:VALUE; ARCH.context_length lifts the limit of a slot.`,
  ),
  "--embeddings": help(say`Serve embeddings only; a text must fit into one physical batch.`),
  "--reranking": help(say`Serve reranking only.`),
  "--pooling": help(say`How token embeddings are combined into one.`),
  "--threads": help(say`CPU threads for generation.`),
  "--threads-batch": help(say`CPU threads for prompt processing.`),
  "--host": help(
    say`Addresses to listen on; other machines can reach it only if it is not a loopback address.`,
  ),
  "--port": help(say`Port to listen on: 9931 since 2026, 8080 before.`),
  "--api-key": help(
    say`API keys that requests must send. Preferably set them in the variable LLAMA_API_KEY rather than on a command line.`,
  ),
  "--alias": help(say`Additional names of the model in the API.`),
  "--slots": help(say`Show what each slot does under /slots.`),
  "--metrics": help(say`Serve metrics under /metrics.`),
  "--models-preset": help(say`INI file with one section per model for the router.`, 7352),
  "--models-dir": help(say`Folder of GGUF files for the router to offer.`, 7352),
  "--models-max": help(say`Maximum number of models the router keeps loaded at the same time.`, 7352),
  "--warmup": help(say`One empty run after loading, so that the first request is not slower.`),
  "--cont-batching": help(say`Process the tokens of several slots together.`),
  "--jinja": help(say`Use the model's own chat template.`),
  "--chat-template": help(say`A different chat template.`),
  "--log-verbosity": help(
    say`Log verbosity. 4 prints the sizes of all buffers, which Llama Gauge reads.`,
    9151,
  ),
};

/** Help for the keys only presets know. */
export const presetKeyHelp: Readonly<Record<string, Text>> = {
  "load-on-startup": say`Load this model when the router starts.`,
  "stop-timeout": say`Seconds the router waits for this model's server to exit.`,
  version: say`Version of the preset format; read and ignored.`,
};
