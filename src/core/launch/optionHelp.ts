import { say, type Text } from "../text";

/** What an option is for, in our words, and the build that brought it where that matters. */
export interface OptionHelp {
  readonly text: Text;
  readonly since?: number;
}

const help = (text: Text, since?: number): OptionHelp => (since === undefined ? { text } : { text, since });

/** Help for the options that decide about context, memory and speed, by main name. */
export const optionHelp: Readonly<Record<string, OptionHelp>> = {
  "--model": help(say`The GGUF file. Relative paths start from the folder the server was started in.`),
  "--hf-repo": help(say`A Hugging Face repository USER/MODEL, with :QUANT behind it; downloaded and cached.`),
  "--hf-file": help(say`Which file of the Hugging Face repository.`),
  "--model-url": help(say`Address the model file is downloaded from.`),
  "--mmproj": help(say`Multimodal projector; needs memory of its own beside the model.`),
  "--mmproj-auto": help(say`Use the projector that comes with a downloaded model.`),
  "--mmproj-offload": help(say`Put the projector on the GPU.`),
  "--ctx-size": help(
    say`Tokens the KV cache holds, for all slots together. 0: the model's whole training context. Without it -fit may choose less.`,
  ),
  "--parallel": help(
    say`Slots, that is requests answered at the same time. A fixed number divides the context among them unless the cache is unified; -1 sets up four with a unified cache.`,
  ),
  "--kv-unified": help(
    say`One KV cache for all slots: each may use the whole context, together they may not.`,
    5913,
  ),
  "--kv-unified-per-slot": help(say`Limit of one slot inside a unified cache.`, 10471),
  "--batch-size": help(
    say`Tokens given to the model in one call while reading a prompt; steps of the progress.`,
  ),
  "--ubatch-size": help(
    say`Tokens computed at once. Larger reads prompts faster on a GPU, and compute buffers (and sliding-window caches) grow with it.`,
  ),
  "--flash-attn": help(
    say`Attention without storing the scores: compute buffers stay small, V may be quantised. It does not shrink the KV cache.`,
    6325,
  ),
  "--cache-type-k": help(
    say`Type of K in the KV cache. f16 needs 2 bytes per element, q8_0 1.06, q4_0 0.56.`,
  ),
  "--cache-type-v": help(say`Type of V in the KV cache. A quantised one needs flash attention.`),
  "--swa-full": help(
    say`Keep all tokens in the caches of sliding-window layers: prompts can be reused further back, for much more memory.`,
    5429,
  ),
  "--kv-offload": help(
    say`Keep the KV cache on the GPU with its layers. Off: in main memory, and attention on the CPU.`,
  ),
  "--op-offload": help(say`Copy weights that are in main memory to the GPU for large batches.`),
  "--repack": help(say`Rearrange weights for the CPU: faster, but a private copy in memory.`),
  "--no-host": help(say`Do without pinned host buffers, so that other buffer types can be used.`),
  "--load-mode": help(say`How the file is read: mapped, locked in memory, directly, or copied.`, 10105),
  "--lazy-mode": help(say`Leave large tables (per-layer embeddings) on disk and read rows when needed.`),
  "--n-gpu-layers": help(
    say`Layers on the GPU, counted from the last; auto lets -fit choose, all takes every one and the output.`,
  ),
  "--split-mode": help(say`How several GPUs share the model: whole layers, rows or tensors.`),
  "--tensor-split": help(
    say`Proportions of the model for each GPU; without it by free memory. Keeps -fit from moving layers.`,
  ),
  "--main-gpu": help(say`The GPU used with split mode none, or for small results with row.`),
  "--device": help(say`Devices to use, by name; none for the CPU alone.`),
  "--rpc": help(say`ggml-rpc-servers (HOST:PORT) whose devices are used as well.`),
  "--override-tensor": help(
    say`Put tensors whose name matches a pattern into a buffer of your choice; the first match counts.`,
  ),
  "--cpu-moe": help(say`Keep all experts in main memory.`),
  "--n-cpu-moe": help(say`Keep the experts of the first N layers in main memory.`),
  "--n-cpu-ffn": help(say`Keep the feed-forward weights of the first N layers in main memory.`, 10471),
  "--moe-cache-mib": help(say`GPU memory that caches experts kept in main memory.`, 10471),
  "--fit": help(
    say`Before loading, reduce a context that was not set and move layers to main memory until all devices keep their margin.`,
    7407,
  ),
  "--fit-target": help(say`MiB that -fit leaves free on each device.`, 7407),
  "--fit-ctx": help(say`The least context -fit may choose.`, 7407),
  "--cache-ram": help(
    say`MiB of main memory for prompts of earlier conversations. 0: off, -1: no limit.`,
    6723,
  ),
  "--swa-checkpoints": help(
    say`Snapshots per slot from which a changed prompt can go on, for models whose state cannot be rolled back. They lie in main memory.`,
    6685,
  ),
  "--checkpoint-min-step": help(say`Least distance of two context checkpoints in tokens.`),
  "--cache-idle-slots": help(
    say`Move the content of idle slots to the prompt cache when a new request comes.`,
  ),
  "--context-shift": help(
    say`When the context is full during an answer, drop old tokens and go on. Never makes a long prompt fit.`,
  ),
  "--keep": help(say`Tokens at the front that a context shift keeps.`),
  "--cache-prompt": help(say`Reuse the part of a prompt that is still in the slot.`),
  "--cache-reuse": help(say`Least length of moved pieces that are reused by shifting the cache. 0: off.`),
  "--slot-prompt-similarity": help(
    say`How much of a prompt must agree with a slot's content for that slot to be chosen.`,
  ),
  "--spec-type": help(say`How tokens are drafted: by MTP layers, a draft model or n-grams.`, 9180),
  "--model-draft": help(
    say`A small model that drafts; its weights and a KV cache of the same context come on top.`,
  ),
  "--hf-repo-draft": help(say`Hugging Face repository of the draft model.`),
  "--spec-draft-n-max": help(say`Tokens drafted at once. Recurrent models keep a state for each of them.`),
  "--spec-draft-n-min": help(say`Fewer drafted tokens than this are not used.`),
  "--spec-draft-n-ubatch": help(say`Physical batch of the draft context; smaller saves memory.`),
  "--cache-type-k-draft": help(say`Type of K in the draft's KV cache.`),
  "--cache-type-v-draft": help(say`Type of V in the draft's KV cache.`),
  "--n-gpu-layers-draft": help(say`Layers of the draft model on the GPU.`),
  "--device-draft": help(say`Devices for the draft model.`),
  "--rope-scaling": help(say`How positions beyond the training context are squeezed: none, linear or yarn.`),
  "--rope-scale": help(
    say`Factor by which the context is stretched. A slot still holds no more than the training context.`,
  ),
  "--rope-freq-base": help(say`Base of the rotary position encoding; the model's own by default.`),
  "--rope-freq-scale": help(say`1 divided by the factor of --rope-scale.`),
  "--yarn-orig-ctx": help(say`Training context YaRN starts from.`),
  "--override-kv": help(
    say`Replace metadata of the model, KEY=TYPE:VALUE; ARCH.context_length lifts the limit of a slot.`,
  ),
  "--embeddings": help(say`Serve embeddings only; a text must fit into one physical batch.`),
  "--reranking": help(say`Serve reranking only.`),
  "--pooling": help(say`How the embeddings of tokens become one.`),
  "--threads": help(say`CPU threads while generating.`),
  "--threads-batch": help(say`CPU threads while reading a prompt.`),
  "--host": help(say`Addresses to listen on; other machines reach it only if it is not a loopback address.`),
  "--port": help(say`Port to listen on: 9931 since 2026, 8080 before.`),
  "--api-key": help(
    say`Keys requests must bring. Better in the variable LLAMA_API_KEY than on a command line.`,
  ),
  "--alias": help(say`Further names of the model in the API.`),
  "--slots": help(say`Show what each slot does under /slots.`),
  "--metrics": help(say`Show counters under /metrics.`),
  "--models-preset": help(say`INI file with one section per model for the router.`, 7352),
  "--models-dir": help(say`Folder whose GGUF files the router offers.`, 7352),
  "--models-max": help(say`Models the router keeps loaded at the same time.`, 7352),
  "--warmup": help(say`One empty run after loading, so that the first request is not slower.`),
  "--cont-batching": help(say`Compute the tokens of several slots together.`),
  "--jinja": help(say`Use the model's own chat template.`),
  "--chat-template": help(say`Another chat template.`),
  "--log-verbosity": help(
    say`How much is logged. 4 prints the sizes of all buffers, which Llama Gauge reads.`,
    9151,
  ),
};

/** Help for the keys only presets know. */
export const presetKeyHelp: Readonly<Record<string, Text>> = {
  "load-on-startup": say`Load this model when the router starts.`,
  "stop-timeout": say`Seconds the router waits for this model's server to end.`,
  version: say`Version of the preset's format; read and ignored.`,
};
