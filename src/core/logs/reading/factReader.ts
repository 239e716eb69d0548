import { given } from "../../given";
import { joinCommandLine } from "../../scripts/joinCommandLine";
import { maskSecrets } from "../../launch/maskSecrets";
import { splitCommandLine } from "../../scripts/splitCommandLine";
import { ContextReader } from "./contextReader";
import type {
  LoggedBreakdownRow,
  LoggedDevice,
  LoggedInstance,
  LoggedModel,
  LoggedRequest,
  LogFacts,
} from "./logFacts";
import { parseMebibytes, type LogLine } from "./logLine";
import { ownValue } from "../../ownValue";

/** Of a long log only the last requests are kept. */
const maxRequests = 1000;

/** A router that starts the same servers again and again. */
const maxInstances = 1000;

/** What the lines so far say; a new load of a model starts over, so that the last one is told. */
export class FactReader {
  private build: string | undefined;
  private commandLine: string | undefined;
  private readonly devices = new Map<string, LoggedDevice>();
  private faAllQuants = false;
  private model: LoggedModel = {};
  private weights = new Map<string, number>();
  private offloadedLayers: LogFacts["offloadedLayers"];
  private contexts: ContextReader[] = [];
  private slots: LogFacts["slots"];
  private breakdown: LoggedBreakdownRow[] = [];
  private fitContext: LogFacts["fitContext"];
  private url: string | undefined;
  private readonly instances: LoggedInstance[] = [];
  private loaded = false;
  private drafting = false;
  private readonly requests = new Map<string, LoggedRequest>();
  private readonly finished: LoggedRequest[] = [];

  result(): LogFacts {
    return {
      ...given({ build: this.build, commandLine: this.commandLine, url: this.url }),
      ...(this.faAllQuants ? { faAllQuants: true } : {}),
      devices: [...this.devices.values()],
      ...(Object.keys(this.model).length === 0 ? {} : { model: this.model }),
      weights: [...this.weights].map(([device, bytes]) => ({ device, bytes })),
      ...given({ offloadedLayers: this.offloadedLayers, slots: this.slots, fitContext: this.fitContext }),
      contexts: this.contexts.map((context) => context.result()),
      breakdown: this.breakdown,
      loaded: this.loaded,
      instances: this.instances,
      requests: [...this.finished, ...this.requests.values()],
    };
  }

  read(line: LogLine): void {
    const { text } = line;
    if (text.includes("buffer size")) this.readBuffer(text);
    else if (text.includes("print_info") || text.includes("llm_load_print_meta")) this.readModelInfo(text);
    else if (text.includes(" kv ") && text.includes("llama_model_loader")) this.readMetadata(text);
    else if (text.includes("size") && /kv|KV/.test(text)) this.readKv(text);
    else if (text.includes("llama_memory_recurrent: size")) this.context().recurrentSize(text);
    else if (text.includes("memory_breakdown_print")) this.readBreakdown(text);
    else if (text.includes("slot ") || text.includes("print_timing")) this.readRequest(line);
    if (text.includes("spawning server instance")) this.readInstance(text);
    this.readLoad(text);
    this.readContextSetting(text);
  }

  private context(): ContextReader {
    const last = this.contexts.at(-1);
    if (last !== undefined) return last;
    const first = new ContextReader();
    this.contexts.push(first);
    return first;
  }

  private startLoad(): void {
    this.model = {};
    this.weights = new Map();
    this.offloadedLayers = undefined;
    this.contexts = [];
    this.slots = undefined;
    this.breakdown = [];
    this.fitContext = undefined;
    this.loaded = false;
    this.drafting = false;
  }

  private readInstance(text: string): void {
    const [, name, port] = /instance with name=(.*) on port (\d+)/.exec(text) ?? [];
    if (name !== undefined && port !== undefined && this.instances.length < maxInstances)
      this.instances.push({ name, port });
  }

  private readLoad(text: string): void {
    const build = /\bbuild(?::| =)? (\d+) \(([^)]*)\)/.exec(text);
    if (build !== null && /print_info|main:|build:|version/.test(text))
      this.build = `b${build[1] ?? ""} (${build[2] ?? ""})`;
    const command = /\bargv: (.*)$|^\$ (.*llama-server.*)$/.exec(text);
    if (command !== null) {
      const words = splitCommandLine(command[1] ?? command[2] ?? "", "posix");
      this.commandLine = joinCommandLine(maskSecrets(words), "posix");
    }
    const loading =
      /load_model: loading model '(.*)'|loaded meta data with \d+ key-value pairs and \d+ tensors from (.*?) \(version/.exec(
        text,
      );
    if (loading !== null && !this.drafting) {
      const path = loading[1] ?? loading[2];
      if (loading[1] !== undefined || this.loaded) this.startLoad();
      this.model = { ...this.model, ...given({ path }) };
    }
    if (/creating (?:MTP )?draft context|loading draft model/.test(text)) this.drafting = true;
    const offloaded = /offloaded (\d+)\/(\d+) layers to GPU/.exec(text);
    if (offloaded !== null && !this.drafting) {
      this.offloadedLayers = { offloaded: Number(offloaded[1]), total: Number(offloaded[2]) };
    }
    if (text.includes("FA_ALL_QUANTS = 1")) this.faAllQuants = true;
    this.readDevice(text);
    const slots = /n_slots = (\d+)(?:, n_ctx_slot = (\d+), kv_unified = '(\w+)')?/.exec(text);
    if (slots !== null) {
      const [, count, nCtx, unified] = slots;
      this.slots = {
        count: Number(count),
        ...given({ nCtx: nCtx && Number(nCtx), unified: unified && unified === "true" }),
      } as LogFacts["slots"];
    }
    const slot = /new slot,? (?:n_ctx|n_ctx_slot) = (\d+)/.exec(text)?.[1];
    if (slot !== undefined) this.slots = { count: this.slots?.count ?? 1, ...this.slots, nCtx: Number(slot) };
    const reduced = /context size reduced from (\d+) to (\d+)/.exec(text);
    if (reduced !== null) this.fitContext = { from: Number(reduced[1]), to: Number(reduced[2]) };
    const url = /listening on (https?:\/\/\S+)/.exec(text)?.[1];
    if (url !== undefined) this.url = url.replace(/[,;]$/, "");
    if (/: model loaded$|main: model loaded/.test(text) || url !== undefined) this.loaded = true;
  }

  private readDevice(text: string): void {
    const listed = /^(?:cmn\s+\S+ )?(?:\w+: )?\s*- (\S+)\s*: (.+) \((\d+) MiB, (\d+) MiB free\)/.exec(text);
    if (listed !== null) {
      const [, name = "", description = "", total = "", free = ""] = listed;
      const sizes = { totalBytes: parseMebibytes(total), freeBytes: parseMebibytes(free) };
      this.devices.set(name, { name, description, ...sizes });
    }
    const used = /using device (\S+) \((.+?)\)(?: \([^)]*\))? - (\d+) MiB free/.exec(text);
    if (used !== null) {
      const [, name = "", description = "", free = ""] = used;
      this.devices.set(name, {
        description,
        ...this.devices.get(name),
        name,
        freeBytes: parseMebibytes(free),
      });
    }
    const cuda = /^\s*Device (\d+): (.+?), compute capability [\d.]+(?:.*?VRAM: (\d+) MiB)?/.exec(text);
    if (cuda !== null && !this.devices.has(`CUDA${cuda[1] ?? ""}`)) {
      const name = `CUDA${cuda[1] ?? ""}`;
      const totalBytes = cuda[3] === undefined ? undefined : parseMebibytes(cuda[3]);
      this.devices.set(name, { name, description: cuda[2] ?? "", ...given({ totalBytes }) });
    }
  }

  private readBuffer(text: string): void {
    const found = /(?<!\S)(\S+)\s+(?:(model|KV|RS|compute|output) )?buffer size =\s*([\d.,]+) Mi?B/.exec(
      text,
    );
    if (found === null) return;
    const [, device = "", named, size = ""] = found;
    // 2024 printed weights without a word in front of "buffer"
    const kind = named ?? (/load_tensors/.test(text) ? "model" : undefined);
    if (kind === undefined) return;
    if (kind !== "model") {
      this.context().buffer(kind, device.replace(/:$/, ""), size);
      return;
    }
    if (this.drafting) return;
    // weights after a context: what came before was a trial run of -fit
    if (this.contexts.some((context) => context.hasBuffers())) {
      this.contexts = [];
      this.weights = new Map();
    }
    this.weights.set(device, (this.weights.get(device) ?? 0) + parseMebibytes(size));
  }

  private readKv(text: string): void {
    const creating = /creating\s+(non-SWA|SWA) KV cache/.exec(text)?.[1];
    if (creating !== undefined) this.context().nextCache(creating);
    else if (/kv_size = /.test(text)) this.context().oldCache(text);
    else if (/(?:kv_cache\w*: size|KV self size|kv self size)\s*=/.test(text)) this.context().kvSize(text);
    const vram = /VRAM kv self = ([\d.,]+) M/.exec(text)?.[1];
    if (vram !== undefined) this.context().buffer("KV", "VRAM", vram);
  }

  private readContextSetting(text: string): void {
    if (text.includes("constructing llama_context")) {
      this.contexts.push(new ContextReader());
      return;
    }
    const setting =
      /^(?:llama_context|llama_new_context_with_model|llama_init_from_model):\s+(\w+)\s*=\s*(\w+)\s*$/.exec(
        text,
      );
    const [, name = "", value = ""] = setting ?? [];
    if (setting !== null) {
      if (/^n_(ctx|seq_max)$/.test(name) && this.context().hasBuffers())
        this.contexts.push(new ContextReader());
      this.context().setting(name, value);
    }
    const resolved =
      /Flash Attention (?:was auto, set to )?(enabled|disabled)$|Flash Attention (not supported)/.exec(text);
    if (resolved !== null) this.context().flashAttnResolved(resolved[1] === "enabled");
  }

  private readModelInfo(text: string): void {
    const found = /(?:print_info|llm_load_print_meta):\s+([\w .]+?)\s*=\s*(.*?)\s*$/.exec(text);
    if (found === null || this.drafting) return;
    const [, name = "", value = ""] = found;
    const size = /^([\d.]+) ([MG])iB/.exec(value);
    const bytes =
      size === null ? undefined : Math.round(Number(size[1]) * (size[2] === "G" ? 2 ** 30 : 2 ** 20));
    const fields: Readonly<Record<string, Partial<LoggedModel>>> = {
      arch: { architecture: value },
      "general.name": { name: value },
      "file type": { quantisation: value },
      "model ftype": { quantisation: value },
      "file size": given({ fileBytes: bytes }),
      "model size": given({ fileBytes: bytes }),
      "model params": { parameters: value },
    };
    const numbers: Readonly<Record<string, keyof LoggedModel>> = {
      n_ctx_train: "nCtxTrain",
      n_layer: "nLayer",
      n_embd: "nEmbd",
      n_head: "nHead",
      n_head_kv: "nHeadKv",
      n_embd_head_k: "nEmbdHeadK",
      n_embd_head_v: "nEmbdHeadV",
      n_swa: "nSwa",
      n_expert: "nExpert",
    };
    const key = ownValue(numbers, name);
    if (key !== undefined && /^\d+$/.test(value)) this.model = { ...this.model, [key]: Number(value) };
    this.model = { ...this.model, ...ownValue(fields, name) };
  }

  private readMetadata(text: string): void {
    const found = /- kv\s+\d+:\s+(\S+) (?:str|[a-z]\d+)\s+= (.*?)\s*$/.exec(text);
    if (found === null || this.drafting) return;
    const [, key = "", value = ""] = found;
    if (key === "general.architecture") this.model = { ...this.model, architecture: value };
    if (key === "general.name") this.model = { ...this.model, name: value };
    if (key.endsWith(".context_length")) this.model = { ...this.model, nCtxTrain: Number(value) };
  }

  private readBreakdown(text: string): void {
    if (text.includes("memory breakdown [")) {
      this.breakdown = [];
      return;
    }
    const row =
      /\|\s+- ([^|]+)\|\s*(?:(\d+) =\s*(-?\d+) \+ \(\s*)?(\d+) =\s*(\d+) \+\s*(\d+) \+\s*(\d+)\)?\s*(?:\+\s*(-?\d+)\s*)?\|/.exec(
        text,
      );
    if (row === null) return;
    const [, device = "", total, free, self = "", model = "", context = "", compute = "", rest] = row;
    this.breakdown.push({
      device: device.trim().replace(/ \(.*\)$/, ""),
      ...given({ totalBytes: total && parseMebibytes(total), freeBytes: free && parseMebibytes(free) }),
      selfBytes: parseMebibytes(self),
      modelBytes: parseMebibytes(model),
      contextBytes: parseMebibytes(context),
      computeBytes: parseMebibytes(compute),
      ...given({ unaccountedBytes: rest && parseMebibytes(rest) }),
    } as LoggedBreakdownRow);
  }

  private readRequest({ text, number }: LogLine): void {
    const id = /id\s+(\d+) \| task (\d+)/.exec(text);
    const key = id === null ? "" : `${id[1] ?? ""}/${id[2] ?? ""}`;
    const set = (values: Partial<LoggedRequest>): void => {
      const slot = id === null ? {} : { slot: Number(id[1]), task: Number(id[2]) };
      this.requests.set(key, { line: number, ...slot, ...this.requests.get(key), ...values });
    };
    const evaluated = /(prompt )?eval time =\s*([\d.]+) ms \/\s*(\d+) (?:tokens|runs)/.exec(text);
    if (evaluated !== null) {
      const [seconds, tokens] = [Number(evaluated[2]) / 1000, Number(evaluated[3])];
      if (evaluated[1] === undefined) set({ generatedTokens: tokens, generationSeconds: seconds });
      else set({ promptTokens: tokens, promptSeconds: seconds });
    }
    const cached = /cached n_tokens = (\d+)/.exec(text)?.[1];
    // printed again in front of the last batch, then with the batch that was just read
    if (cached !== undefined && this.requests.get(key)?.cachedTokens === undefined)
      set({ cachedTokens: Number(cached) });
    const acceptance = /draft acceptance(?: rate)? = ([\d.]+)/.exec(text)?.[1];
    if (acceptance !== undefined) set({ draftAcceptance: Number(acceptance) });
    const stopped = /stop processing: n_(?:tokens|past) = \d+, truncated = (\d)/.exec(text)?.[1];
    if (stopped !== undefined) {
      set({ truncated: stopped === "1" });
      const request = this.requests.get(key);
      this.requests.delete(key);
      if (request !== undefined) this.finished.push(request);
      if (this.finished.length > maxRequests) this.finished.shift();
    }
  }
}
