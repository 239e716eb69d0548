import { given } from "../../given";
import type { DeviceBytes, LoggedContext, LoggedKvCache, LoggedRecurrentState } from "./logFacts";
import { parseMebibytes } from "./logLine";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Collects the lines about one llama_context. */
export class ContextReader {
  private readonly settings: Writable<Partial<LoggedContext>> = {};
  private readonly kv: LoggedKvCache[] = [];
  private recurrent: LoggedRecurrentState | undefined;
  private readonly compute = new Map<string, number>();
  private readonly output = new Map<string, number>();
  private kvDevices: DeviceBytes[] = [];
  private recurrentDevices: DeviceBytes[] = [];
  private cacheName = "full";
  private oldKv: { cells?: number; layers?: number; typeK?: string; typeV?: string } = {};

  result(): LoggedContext {
    return {
      ...this.settings,
      kv: this.kv,
      ...(this.recurrent === undefined ? {} : { recurrent: this.recurrent }),
      compute: entries(this.compute),
      output: entries(this.output),
    };
  }

  /** Has anything of this context been seen? A second `n_ctx` line then belongs to another one. */
  hasBuffers(): boolean {
    return this.kv.length > 0 || this.compute.size > 0 || this.recurrent !== undefined;
  }

  setting(name: string, value: string): boolean {
    const { settings } = this;
    const number = Number(value);
    switch (name) {
      case "n_seq_max":
        settings.nSeqMax = number;
        return true;
      case "n_ctx":
        settings.nCtx = number;
        return true;
      case "n_ctx_seq":
      case "n_ctx_per_seq":
        settings.nCtxSeq = number;
        return true;
      case "n_batch":
        settings.nBatch = number;
        return true;
      case "n_ubatch":
        settings.nUbatch = number;
        return true;
      case "n_rs_seq":
        settings.nRsSeq = number;
        return true;
      case "flash_attn":
        settings.flashAttn =
          value === "1" ? "on" : value === "0" ? "off" : value.replace(/^(en|dis)abled$/, onOff);
        return true;
      case "kv_unified":
        settings.kvUnified = value === "true" || value === "1";
        return true;
      default:
        return false;
    }
  }

  flashAttnResolved(on: boolean): void {
    const asked = this.settings.flashAttn;
    this.settings.flashAttn = asked === undefined || asked === "auto" ? (on ? "on" : "off") : asked;
  }

  buffer(kind: string, device: string, size: string): void {
    const bytes = parseMebibytes(size);
    if (kind === "KV") this.kvDevices.push({ device, bytes });
    else if (kind === "RS") this.recurrentDevices.push({ device, bytes });
    else if (kind === "output") this.output.set(device, bytes);
    // a context reserves again when drafting is set up: the later size replaces the earlier one
    else this.compute.set(device, bytes);
  }

  nextCache(name: string): void {
    this.cacheName = name;
  }

  oldCache(text: string): void {
    const number = (name: string): number | undefined => {
      const value = new RegExp(`\\b${name} = '?(\\w+)`).exec(text)?.[1];
      return value === undefined ? undefined : Number(value);
    };
    const word = (name: string): string | undefined => new RegExp(`\\b${name} = '(\\w+)'`).exec(text)?.[1];
    const [cells, layers, typeK, typeV] = [
      number("kv_size"),
      number("n_layer"),
      word("type_k"),
      word("type_v"),
    ];
    this.oldKv = given({ cells, layers, typeK, typeV });
  }

  /** `size = 512.00 MiB ( 8192 cells, 16 layers, 4/1 seqs), K (f16): …`, or the older `KV self size = …`. */
  kvSize(text: string): void {
    const size = /size\s*=\s*([\d.,]+) Mi?B/.exec(text)?.[1];
    if (size === undefined) return;
    const shape = /\(\s*(\d+) cells,\s*(\d+) layers,\s*(\d+)\s*(?:\/\s*(\d+)\s*)?seqs/.exec(text);
    const [typeK, k] = part(text, "K");
    const [typeV, v] = part(text, "V");
    const whole = parseMebibytes(size);
    const name = this.kv.some(({ cache }) => cache === this.cacheName)
      ? `${this.cacheName} ${this.kv.length + 1}`
      : this.cacheName;
    const numbers = given({
      cells: shape === null ? (this.oldKv.cells ?? this.settings.nCtx) : Number(shape[1]),
      layers: shape === null ? this.oldKv.layers : Number(shape[2]),
      sequences: shape === null ? undefined : Number(shape[3]),
      streams: shape?.[4] === undefined ? undefined : Number(shape[4]),
      kBytes: k,
      vBytes: v,
    });
    const types = given({ typeK: typeK ?? this.oldKv.typeK, typeV: typeV ?? this.oldKv.typeV });
    this.kv.push({ cache: name, bytes: whole, ...numbers, ...types, devices: this.kvDevices });
    this.kvDevices = [];
    this.cacheName = "full";
  }

  recurrentSize(text: string): void {
    const size = /size\s*=\s*([\d.,]+) MiB/.exec(text)?.[1];
    const shape = /\(\s*(\d+) cells,\s*(\d+) layers,\s*(\d+) seqs/.exec(text);
    if (size === undefined) return;
    const numbers =
      shape === null
        ? {}
        : { cells: Number(shape[1]), layers: Number(shape[2]), sequences: Number(shape[3]) };
    this.recurrent = { bytes: parseMebibytes(size), ...numbers, devices: this.recurrentDevices };
    this.recurrentDevices = [];
  }
}

const onOff = (word: string): string => (word === "enabled" ? "on" : "off");

function part(text: string, name: "K" | "V"): [type: string | undefined, bytes: number | undefined] {
  const found = new RegExp(`\\b${name} \\((\\w+)\\):\\s*([\\d.,]+) Mi?B`).exec(text);
  return [found?.[1], found?.[2] === undefined ? undefined : parseMebibytes(found[2])];
}

function entries(map: ReadonlyMap<string, number>): DeviceBytes[] {
  return [...map].map(([device, bytes]) => ({ device, bytes }));
}
