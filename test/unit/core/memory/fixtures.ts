import { readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";
import type { MemoryDevice } from "../../../../src/core/memory/devices/memoryDevice";
import { tensorBytes } from "../../../../src/core/model/ggmlTypes";
import type { GgufHeader, MetadataValue } from "../../../../src/core/model/ggufHeader";
import type { Model } from "../../../../src/core/model/model";
import { modelOf } from "../../../../src/core/model/modelOf";
import { repository } from "../../../support/repository";

const folder = path.join(repository, "test/fixtures/memory");

function load(name: string): unknown {
  return JSON.parse(gunzipSync(readFileSync(path.join(folder, name))).toString("utf8"));
}

type Metadata = Readonly<Record<string, MetadataValue>>;
type TensorRow = readonly [name: string, type: number, ...shape: number[]];

interface HeadersFile {
  readonly models: Readonly<
    Record<
      string,
      {
        readonly fileBytes: number;
        readonly vocabularySize?: number;
        readonly metadata: Metadata;
        readonly tensors: readonly TensorRow[];
      }
    >
  >;
}

/** Headers of real-size models by file name. */
export function headers(): ReadonlyMap<string, GgufHeader> {
  const { models } = load("headers.json.gz") as HeadersFile;
  return new Map(
    Object.entries(models).map(([name, { metadata, tensors, fileBytes, vocabularySize }]) => [
      name,
      {
        locator: name,
        metadata: new Map(Object.entries(metadata)),
        tensors: tensors.map(([tensor, type, ...shape]) => ({
          name: tensor,
          type,
          shape,
          bytes: tensorBytes(type, shape) ?? 0,
        })),
        fileBytes,
        ...(vocabularySize === undefined ? {} : { vocabularySize }),
      },
    ]),
  );
}

export const headerOf = (metadata: Metadata): GgufHeader => ({
  locator: "header only",
  metadata: new Map(Object.entries(metadata)),
  tensors: [],
  fileBytes: 0,
});

type Buffers = readonly [weights: number, context: number, compute: number];

export interface TruthRow {
  readonly name: string;
  readonly model: Model;
  readonly backend: "cpu" | "rpc" | "cuda" | "metal";
  readonly caller: "server" | "fitParams";
  /** The draft context of a model's own MTP blocks, not the main one. */
  readonly draftContext: boolean;
  readonly options: LaunchOptions;
  /** What came out of `-fa auto`. */
  readonly flashAttention: boolean;
  readonly devices: readonly MemoryDevice[];
  readonly nCtx: number;
  readonly nCtxSeq: number;
  readonly ubatch: number;
  readonly buffers: ReadonlyMap<string, Buffers>;
  readonly layers: ReadonlyMap<string, readonly [first: number, last: number, count: number]> | undefined;
  readonly caches: readonly (readonly [cells: number, layers: number, streams: number])[];
}

interface TruthFile {
  readonly columns: readonly string[];
  readonly models: readonly string[];
  readonly rows: readonly (readonly [
    settings: readonly (string | number | null)[],
    nCtx: number,
    nCtxSeq: number,
    ubatch: number,
    flashAttention: number,
    buffers: Readonly<Record<string, Buffers>>,
    layers: Readonly<Record<string, readonly [number, number, number]>> | null,
    caches: readonly (readonly [number, number, number])[],
    outputMiB: number | null,
  ])[];
  readonly refused: readonly (readonly [settings: readonly (string | number | null)[], error: string])[];
}

/** What llama.cpp itself would allocate, row by row, and the settings mapped to launch options. */
export function truth(): { readonly rows: readonly TruthRow[]; readonly refused: readonly Refusal[] } {
  const file = load("truth.json.gz") as TruthFile;
  const models = new Map([...headers()].map(([name, header]) => [name, modelOf(header)]));
  const read = (settings: readonly (string | number | null)[]): Settings => {
    const at = (column: string): string | number | null => settings[file.columns.indexOf(column)] ?? null;
    const name = file.models[Number(at("model"))] ?? "";
    const model = models.get(name);
    if (model === undefined) throw new Error(`no header of ${name}`);
    return { at, name, model };
  };
  const rows = file.rows.map(
    ([settings, nCtx, nCtxSeq, ubatch, flash, buffers, layers, caches]): TruthRow => {
      const { at, name, model } = read(settings);
      const options = optionsOf(at);
      return {
        name: `${name} ${at("backend")} ${JSON.stringify(options)}`,
        model,
        backend: at("backend") as TruthRow["backend"],
        caller: at("caller") as TruthRow["caller"],
        draftContext: at("context") !== "main",
        options,
        flashAttention: flash === 1,
        devices: devicesOf(String(at("backend")), Number(at("devices"))),
        nCtx,
        nCtxSeq,
        ubatch,
        buffers: new Map(Object.entries(buffers)),
        layers: layers === null ? undefined : new Map(Object.entries(layers)),
        caches,
      };
    },
  );
  const refused = file.refused.map(([settings, error]): Refusal => {
    const { at, model, name } = read(settings);
    return { name, model, options: optionsOf(at), error };
  });
  return { rows, refused };
}

export interface Refusal {
  readonly name: string;
  readonly model: Model;
  readonly options: LaunchOptions;
  readonly error: string;
}

interface Settings {
  readonly at: (column: string) => string | number | null;
  readonly name: string;
  readonly model: Model;
}

function optionsOf(at: (column: string) => string | number | null): LaunchOptions {
  const gpuLayers = at("gpuLayers");
  const split = at("tensorSplit");
  const mode = at("splitMode");
  const main = at("mainGpu");
  const moe = at("nCpuMoe");
  return {
    ctxSize: Number(at("nCtx")),
    batchSize: Number(at("batch")),
    ubatchSize: Number(at("ubatch")),
    cacheTypeK: String(at("typeK")),
    cacheTypeV: String(at("typeV")),
    flashAttn: at("flashAttn") as "on" | "off" | "auto",
    parallel: Number(at("parallel")),
    kvUnified: at("unified") === 1,
    swaFull: at("swaFull") === 1,
    kvOffload: at("kvOffload") === 1,
    opOffload: at("opOffload") === 1,
    fit: false,
    ...(at("mtp") === 1
      ? { specType: ["draft-mtp"], specDraftNMax: 3 }
      : Number(at("rollback")) > 0
        ? { specType: ["draft-eagle3"], specDraftNMax: Number(at("rollback")) }
        : {}),
    ...(gpuLayers === null ? {} : { gpuLayers: Number(gpuLayers) }),
    ...(split === null ? {} : { tensorSplit: String(split).split(",").map(Number) }),
    ...(mode === null ? {} : { splitMode: mode as "none" | "layer" | "row" }),
    ...(main === null ? {} : { mainGpu: Number(main) }),
    ...(at("cpuMoe") === 1 ? { cpuMoe: true } : {}),
    ...(moe === null ? {} : { nCpuMoe: Number(moe) }),
  };
}

const deviceNames: Readonly<Record<string, string>> = { rpc: "RPC", cuda: "CUDA", metal: "MTL" };
const freeMiB = [23_800, 11_900];

function devicesOf(backend: string, count: number): readonly MemoryDevice[] {
  const name = deviceNames[backend];
  if (name === undefined) return [];
  return Array.from({ length: count }, (_, i) => ({
    name: `${name}${i}`,
    freeBytes: backend === "rpc" ? 20 * 2 ** 30 : (freeMiB[i] ?? 0) * 2 ** 20,
  }));
}

export interface ToyModel {
  readonly metadata: Metadata;
  readonly runs: Readonly<
    Record<
      string,
      {
        readonly kv: readonly (readonly [
          layers: number,
          cells: number,
          streams: number,
          k: number,
          v: number,
        ])[];
        readonly state: readonly [shift: number, state: number] | null;
        readonly compute: number;
      }
    >
  >;
}

export function toys(): ReadonlyMap<string, ToyModel> {
  return new Map(
    Object.entries((load("toys.json.gz") as { readonly models: Record<string, ToyModel> }).models),
  );
}

export interface PublicCase {
  readonly id: string;
  readonly source?: string;
  readonly build?: string;
  readonly arch: string;
  readonly hparams?: Metadata;
  readonly hparams_ref?: string;
  readonly print_info?: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly measured: {
    readonly kv?: readonly {
      readonly cache?: string;
      readonly cells?: number;
      readonly layers?: number;
      readonly size_mib?: number;
      readonly k_mib?: number;
      readonly v_mib?: number;
      readonly seqs?: string;
    }[];
    readonly rs_mib?: number;
    readonly compute?: Readonly<Record<string, number>>;
  };
}

export function publicCases(): readonly PublicCase[] {
  return (load("publicLogs.json.gz") as { readonly cases: readonly PublicCase[] }).cases;
}
