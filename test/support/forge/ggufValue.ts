/** A typed metadata value; the type numbers are those of the GGUF format. */
export type GgufValue =
  | { readonly type: "u32" | "i32" | "f32" | "u64"; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }
  | GgufArray;

export type GgufArray =
  | { readonly type: "array"; readonly of: "string"; readonly values: readonly string[] }
  | { readonly type: "array"; readonly of: "bool"; readonly values: readonly boolean[] }
  | { readonly type: "array"; readonly of: "u8" | "u32" | "i32" | "f32"; readonly values: readonly number[] };

/** In the order in which it is written. */
export type GgufMetadata = Map<string, GgufValue>;

export const u32 = (value: number): GgufValue => ({ type: "u32", value });
export const i32 = (value: number): GgufValue => ({ type: "i32", value });
export const u64 = (value: number): GgufValue => ({ type: "u64", value });
export const f32 = (value: number): GgufValue => ({ type: "f32", value });
export const bool = (value: boolean): GgufValue => ({ type: "bool", value });
export const str = (value: string): GgufValue => ({ type: "string", value });
export const strArray = (values: readonly string[]): GgufValue => ({ type: "array", of: "string", values });
export const boolArray = (values: readonly boolean[]): GgufValue => ({ type: "array", of: "bool", values });
export const u8Array = (values: readonly number[]): GgufValue => ({ type: "array", of: "u8", values });
export const u32Array = (values: readonly number[]): GgufValue => ({ type: "array", of: "u32", values });
export const i32Array = (values: readonly number[]): GgufValue => ({ type: "array", of: "i32", values });
export const f32Array = (values: readonly number[]): GgufValue => ({ type: "array", of: "f32", values });
