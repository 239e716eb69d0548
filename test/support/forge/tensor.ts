/** ggml tensor types the forge can write: number in the file, elements and bytes of a block. */
const tensorTypes = {
  f32: { id: 0, block: 1, blockBytes: 4 },
  f16: { id: 1, block: 1, blockBytes: 2 },
  q8_0: { id: 8, block: 32, blockBytes: 34 },
  i64: { id: 27, block: 1, blockBytes: 8 },
} as const;

export type TensorType = keyof typeof tensorTypes;

export interface TensorSpec {
  readonly name: string;
  /** Fastest dimension first, as in ggml. */
  readonly shape: readonly number[];
  readonly type: TensorType;
  /** Random values lie in ±`random`; `values` are f32, in the order of the file. */
  readonly fill:
    { readonly random: number } | { readonly constant: number } | { readonly values: Float32Array };
}

export const tensorTypeId = (tensor: TensorSpec): number => tensorTypes[tensor.type].id;

export function tensorBytes(tensor: TensorSpec): number {
  const { block, blockBytes } = tensorTypes[tensor.type];
  const row = tensor.shape[0] ?? 1;
  if (row % block !== 0)
    throw new Error(`${tensor.name}: rows of ${row} do not divide into blocks of ${block}`);
  return (tensor.shape.reduce((product, side) => product * side, 1) / block) * blockBytes;
}

/** The tensor's bytes; the same seed gives the same bytes. */
export function tensorData(tensor: TensorSpec, seed: number): Buffer {
  const data = Buffer.alloc(tensorBytes(tensor));
  if ("values" in tensor.fill) fillValues(data, tensor, tensor.fill.values);
  else if ("constant" in tensor.fill) fillConstant(data, tensor.type, tensor.fill.constant);
  else fillRandom(data, tensor.type, tensor.fill.random, seed);
  return data;
}

function fillConstant(data: Buffer, type: TensorType, value: number): void {
  if (type === "i64" && value === 0) return;
  if (type !== "f32") throw new Error("constant tensors are f32");
  for (let at = 0; at < data.length; at += 4) data.writeFloatLE(value, at);
}

function fillValues(data: Buffer, { name, type }: TensorSpec, values: Float32Array): void {
  if (type !== "f32" || values.length * 4 !== data.length)
    throw new Error(`${name}: needs ${data.length / 4} f32 values`);
  values.forEach((value, index) => data.writeFloatLE(value, index * 4));
}

function fillRandom(data: Buffer, type: TensorType, reach: number, seed: number): void {
  const next = xorshift(seed);
  switch (type) {
    case "i64":
      throw new Error("integers are not random");
    case "f32":
      for (let at = 0; at < data.length; at += 4) data.writeFloatLE((next() / 2 ** 31 - 1) * reach, at);
      return;
    case "f16":
      for (let at = 0; at < data.length; at += 2)
        data.writeUInt16LE(toHalf((next() / 2 ** 31 - 1) * reach), at);
      return;
    case "q8_0": {
      const scale = toHalf(reach / 127);
      for (let at = 0; at < data.length; at += 34) {
        data.writeUInt16LE(scale, at);
        for (let i = 2; i < 34; i += 4) data.writeUInt32LE(next(), at + i);
      }
    }
  }
}

/** Marsaglia's xorshift32: 32 random bits a call. */
function xorshift(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
}

const floats = new Float32Array(1);
const bits = new Uint32Array(floats.buffer);

/** IEEE half of a number in the half's normal range; smaller ones become 0. */
function toHalf(value: number): number {
  floats[0] = value;
  const word = bits[0] ?? 0;
  const sign = (word >>> 16) & 0x8000;
  const exponent = ((word >>> 23) & 0xff) - 112;
  if (exponent <= 0) return sign;
  return sign | (exponent << 10) | ((word >>> 13) & 0x3ff);
}
