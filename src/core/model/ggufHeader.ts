export type MetadataValue = string | number | bigint | boolean | readonly MetadataValue[];

export interface TensorInfo {
  readonly name: string;
  /** Dimensions as stored, fastest first. */
  readonly shape: readonly number[];
  /** ggml type number. */
  readonly type: number;
  readonly bytes: number;
}

/** What a GGUF says before its weights; all shards together. Vocabulary arrays are left out (they are read elsewhere). */
export interface GgufHeader {
  /** Where it was read from: path or address of the first part. */
  readonly locator: string;
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  readonly tensors: readonly TensorInfo[];
  readonly fileBytes: number;
  /** Entries of `tokenizer.ggml.tokens`; absent where the header has none. */
  readonly vocabularySize?: number;
  /** The tensors of the table end after the file does: a download that stopped, or the header alone. */
  readonly truncated?: boolean;
}

export interface ModelSource {
  /** Header of a GGUF (path or http(s) address; a shard stands for all its parts). */
  readHeader(locator: string, signal: AbortSignal): Promise<GgufHeader>;
}
