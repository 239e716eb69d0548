import type { LaunchOptions, TensorOverride } from "../launch/launchOptions";
import { ggmlType, rowBytes, type GgmlType } from "../model/ggmlTypes";
import type { Model } from "../model/model";
import type { PlacedTensor } from "../model/tensorSizes";
import { backendOf, type Backend, type MemoryDevice } from "./devices/memoryDevice";
import { tensorOverrides, type OverrideProblem } from "./overrides/tensorOverrides";

/** Index of the host in place of a device's. */
export const host = -1;

/** Which device holds what (llama-model.cpp `load_tensors`). */
export interface Placement {
  readonly devices: readonly PlacedDevice[];
  /** Device index of each block and, last, of the output; `host` for host memory. */
  readonly layerDevice: readonly number[];
  /** Where the output matrix is. */
  readonly outputDevice: number;
  /** Bytes of weights by device, and on the host. */
  readonly weights: readonly number[];
  readonly hostWeights: number;
  /** Every block and the output are on devices. */
  readonly fullyOffloaded: boolean;
  /** Weights were moved out of their layer's device by `-ot`, `-cmoe`, `-ncmoe` or `-ncffn`. */
  readonly overridden: boolean;
  /** Whether any of these was given: llama.cpp then computes without pipeline parallelism. */
  readonly hasOverrides: boolean;
  /** Patterns of `-ot` that are not evaluated. */
  readonly overrideProblems: readonly OverrideProblem[];
  /** Largest matrix on the host that belongs to a layer, in bytes: what op offload copies to a device. */
  readonly largestHostMatrix: number;
  /** Matrices on the host that belong to a layer or are the output: bytes by name without `.weight`. */
  readonly hostMatrices: () => ReadonlyMap<string, number>;
}

export interface PlacedDevice {
  readonly device: MemoryDevice;
  readonly backend: Backend;
}

const expertTensors = /\.ffn_(up|down|gate|gate_up)_(ch|)exps/;
const denseFeedForward = /\.ffn_(up|down|gate|gate_up)\./;

export function placement(
  model: Model,
  options: LaunchOptions,
  available: readonly MemoryDevice[],
  withMtp: boolean,
): Placement {
  const { gpuLayers, tensorSplit, splitMode, mainGpu, overrideTensor, cpuMoe, nCpuMoe, nCpuFfn } = options;
  const own = [gpuLayers, tensorSplit, splitMode, mainGpu, overrideTensor, cpuMoe, nCpuMoe, nCpuFfn];
  const key = JSON.stringify([own, options.devices, available, withMtp]);
  const last = latest.get(model);
  if (last?.key === key) return last.placed;
  const placed = placeAll(model, options, available, withMtp);
  latest.set(model, { key, placed });
  return placed;
}

/** A slider moves the context, not the weights. */
const latest = new WeakMap<Model, { readonly key: string; readonly placed: Placement }>();

function placeAll(
  model: Model,
  options: LaunchOptions,
  available: readonly MemoryDevice[],
  withMtp: boolean,
): Placement {
  const devices = usedDevices(options, available);
  const blocks = model.layers.length;
  const layerDevice = layerDevices(blocks, options, devices);
  const ownOutput = layerDevice[blocks] ?? host;
  let outputDevice = ownOutput;
  const weights = new Array<number>(devices.length).fill(0);
  let hostWeights = 0;
  let overridden = false;
  let largestHostMatrix = 0;
  let outputBytes: number | undefined;
  const onHost: PlacedTensor[] = [];
  let matrices: ReadonlyMap<string, number> | undefined;
  const skipped = withMtp ? blocks : blocks - model.mtpLayers;
  const pinned = devices.some(({ backend }) => backend === "cuda");
  const secondCopy =
    model.tensors.tiedBytes > 0 &&
    (ownOutput !== host || pinned || model.rules?.duplicatesTiedOutput === true);

  const overrides = tensorOverrides(model.tensors, options);
  const outputMatrix = model.tensors.tiedBytes > 0 ? "token_embd.weight" : "output.weight";
  const put = (tensor: PlacedTensor, device: number): void => {
    const bytes = allocated(tensor, devices[device]?.backend);
    if (device === host) hostWeights += bytes;
    else weights[device] = (weights[device] ?? 0) + bytes;
  };
  for (const [index, tensor] of model.tensors.all.entries()) {
    if (tensor.layer >= skipped) continue;
    const natural =
      tensor.role === "input"
        ? host
        : tensor.role === "output"
          ? ownOutput
          : (layerDevice[tensor.layer] ?? host);
    const wanted = overrideOf(tensor, overrides.of(index), options, devices);
    const target = wanted ?? natural;
    overridden ||= target !== natural;
    put(tensor, target);
    if (tensor.role === "layer" && target === host) {
      largestHostMatrix = Math.max(largestHostMatrix, tensor.bytes);
      if (devices.length > 0) onHost.push(tensor);
    }
    if (tensor.name !== outputMatrix) continue;
    // the copy of a tied matrix has its name: an override moves both to one place, where one is enough
    const copied = secondCopy && wanted === undefined;
    outputDevice = copied ? ownOutput : target;
    overridden ||= outputDevice !== ownOutput;
    if (copied) put(tensor, outputDevice);
    if (outputDevice === host) outputBytes = tensor.bytes;
  }
  return {
    devices,
    layerDevice,
    outputDevice,
    weights,
    hostWeights,
    fullyOffloaded: devices.length > 0 && layerDevice.every((device) => device !== host),
    overridden,
    hasOverrides: hasOverrides(options),
    overrideProblems: overrides.problems,
    largestHostMatrix,
    hostMatrices: () => (matrices ??= byName(onHost, outputBytes)),
  };
}

function byName(
  tensors: readonly PlacedTensor[],
  outputBytes: number | undefined,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const { matrix, bytes } of tensors) found.set(matrix, bytes);
  return outputBytes === undefined ? found : found.set("output", outputBytes);
}

/** `llama_max_devices()`. */
export const maxDevices = 16;

/** The devices a launch works with, in order. */
function usedDevices(options: LaunchOptions, available: readonly MemoryDevice[]): readonly PlacedDevice[] {
  const wanted = options.devices;
  const chosen =
    wanted === undefined
      ? available
      : wanted
          .slice(0, maxDevices)
          .flatMap((name) => available.filter((device) => device.name.toLowerCase() === name.toLowerCase()));
  const one = options.splitMode === "none" ? chosen[options.mainGpu ?? 0] : undefined;
  const used = options.splitMode === "none" ? (one === undefined ? [] : [one]) : chosen;
  return used.slice(0, maxDevices).map((device) => ({ device, backend: backendOf(device) }));
}

/** Number of layers `-ngl` asks for; the output counts as one. */
function offloadedLayers(options: LaunchOptions, blocks: number): number {
  const wanted = options.gpuLayers;
  if (wanted === undefined || typeof wanted === "string" || wanted < 0) return blocks + 1;
  return Math.min(wanted, blocks + 1);
}

/** llama.cpp computes the split in single precision; so do we, to break ties as it does. */
function layerDevices(
  blocks: number,
  options: LaunchOptions,
  devices: readonly PlacedDevice[],
): readonly number[] {
  const offloaded = devices.length === 0 ? 0 : offloadedLayers(options, blocks);
  const start = Math.max(blocks + 1 - offloaded, 0);
  const shares = devices.map(
    ({ device }, i) => options.tensorSplit?.[i] ?? (options.tensorSplit ? 0 : device.freeBytes),
  );
  const even = shares.every((share) => share === 0);
  let sum = 0;
  const cumulative = shares.map((share) => (sum = Math.fround(sum + Math.fround(even ? 1 : share))));
  const splits = cumulative.map((each) => Math.fround(each / sum));
  return Array.from({ length: blocks + 1 }, (_, layer) => {
    if (layer < start || offloaded === 0) return host;
    const at = Math.fround((layer - start) / offloaded);
    const found = splits.findIndex((split) => split > at);
    return found < 0 ? devices.length - 1 : found;
  });
}

const hasOverrides = ({ overrideTensor = [], cpuMoe, nCpuMoe = 0, nCpuFfn = 0 }: LaunchOptions): boolean =>
  overrideTensor.length > 0 || cpuMoe === true || nCpuMoe > 0 || nCpuFfn > 0;

function overrideOf(
  tensor: PlacedTensor,
  override: TensorOverride | undefined,
  options: LaunchOptions,
  devices: readonly PlacedDevice[],
): number | undefined {
  if (override !== undefined) {
    const buffer = override.buffer.toLowerCase();
    const found = devices.findIndex(({ device }) => device.name.toLowerCase() === buffer);
    return found < 0 ? host : found;
  }
  if (tensor.role !== "layer") return undefined;
  const moved = options.cpuMoe === true || tensor.layer < (options.nCpuMoe ?? 0);
  if (moved && expertTensors.test(tensor.name)) return host;
  return tensor.layer < (options.nCpuFfn ?? 0) && denseFeedForward.test(tensor.name) ? host : undefined;
}

/** CUDA and HIP pad the last row of a quantised tensor to 512 values; allocations are aligned. */
function allocated(tensor: PlacedTensor, backend: Backend | undefined): number {
  const packing = ggmlType(tensor.info.type);
  if (backend !== "cuda" || packing === undefined) return tensor.bytes;
  return tensor.bytes + rowPadding(packing, tensor.info.shape[0] ?? 0);
}

/** Bytes added behind a quantised tensor whose rows have `row` values. */
export function rowPadding(packing: GgmlType, row: number): number {
  if (packing.blockValues === 1 || row % 512 === 0) return 0;
  return Math.ceil(rowBytes(packing, 512 - (row % 512)) / 128) * 128;
}
