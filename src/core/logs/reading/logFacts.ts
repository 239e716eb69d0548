export interface DeviceBytes {
  readonly device: string;
  readonly bytes: number;
}

export interface LoggedDevice {
  readonly name: string;
  readonly description: string;
  readonly totalBytes?: number;
  readonly freeBytes?: number;
}

export interface LoggedKvCache {
  /** "full", "non-SWA", "SWA", … */
  readonly cache: string;
  readonly bytes: number;
  /** For readers of the JSON, as `vBytes`. */
  readonly kBytes?: number;
  readonly vBytes?: number;
  readonly typeK?: string;
  readonly typeV?: string;
  /** Cells of one stream. */
  readonly cells?: number;
  readonly layers?: number;
  readonly sequences?: number;
  readonly streams?: number;
  readonly devices: readonly DeviceBytes[];
}

export interface LoggedRecurrentState {
  readonly bytes: number;
  readonly cells?: number;
  readonly layers?: number;
  readonly sequences?: number;
  readonly devices: readonly DeviceBytes[];
}

/** One llama_context: the model's own, then those of MTP or a draft model. */
export interface LoggedContext {
  readonly nCtx?: number;
  /** Tokens of one sequence. */
  readonly nCtxSeq?: number;
  readonly nSeqMax?: number;
  readonly nBatch?: number;
  readonly nUbatch?: number;
  readonly flashAttn?: string;
  readonly kvUnified?: boolean;
  readonly nRsSeq?: number;
  readonly kv: readonly LoggedKvCache[];
  readonly recurrent?: LoggedRecurrentState;
  readonly compute: readonly DeviceBytes[];
  readonly output: readonly DeviceBytes[];
}

export interface LoggedModel {
  readonly path?: string;
  readonly name?: string;
  readonly architecture?: string;
  readonly quantisation?: string;
  readonly fileBytes?: number;
  readonly parameters?: string;
  readonly nCtxTrain?: number;
  readonly nLayer?: number;
  readonly nEmbd?: number;
  readonly nHead?: number;
  readonly nHeadKv?: number;
  readonly nEmbdHeadK?: number;
  readonly nEmbdHeadV?: number;
  readonly nSwa?: number;
  readonly nExpert?: number;
}

/** Row of llama.cpp's memory breakdown table. */
export interface LoggedBreakdownRow {
  readonly device: string;
  readonly totalBytes?: number;
  readonly freeBytes?: number;
  readonly selfBytes: number;
  readonly modelBytes: number;
  readonly contextBytes: number;
  readonly computeBytes: number;
  /** For readers of the JSON. */
  readonly unaccountedBytes?: number;
}

/** One finished request. */
export interface LoggedRequest {
  readonly slot?: number;
  readonly task?: number;
  readonly line: number;
  /** Tokens evaluated, cached ones left out. */
  readonly promptTokens?: number;
  readonly promptSeconds?: number;
  readonly cachedTokens?: number;
  readonly generatedTokens?: number;
  readonly generationSeconds?: number;
  /** Share of drafted tokens that were accepted. */
  readonly draftAcceptance?: number;
  readonly truncated?: boolean;
}

/** A server that a router started for one of its models. */
export interface LoggedInstance {
  readonly name: string;
  /** Its lines have the port in front. */
  readonly port: string;
}

/** What a log says about one load of one model. Sizes in bytes (logs print hundredths of MiB). */
export interface LogFacts {
  readonly build?: string;
  readonly commandLine?: string;
  readonly devices: readonly LoggedDevice[];
  /** CUDA kernels for all pairs of KV types are built in. */
  readonly faAllQuants?: boolean;
  readonly model?: LoggedModel;
  readonly weights: readonly DeviceBytes[];
  readonly offloadedLayers?: { readonly offloaded: number; readonly total: number };
  readonly contexts: readonly LoggedContext[];
  readonly slots?: { readonly count: number; readonly nCtx?: number; readonly unified?: boolean };
  readonly breakdown: readonly LoggedBreakdownRow[];
  /** `-fit` reduced the context. */
  readonly fitContext?: { readonly from: number; readonly to: number };
  readonly url?: string;
  readonly loaded: boolean;
  readonly instances: readonly LoggedInstance[];
  readonly requests: readonly LoggedRequest[];
}

export interface LogTotals {
  readonly weightsBytes: number;
  readonly kvBytes: number;
  readonly recurrentBytes: number;
  readonly computeBytes: number;
  readonly outputBytes: number;
}

const sum = (parts: readonly { readonly bytes: number }[]): number =>
  parts.reduce((total, part) => total + part.bytes, 0);

/** Sums over all devices and contexts. */
export function logTotals(facts: LogFacts): LogTotals {
  const { contexts } = facts;
  return {
    weightsBytes: sum(facts.weights),
    kvBytes: sum(contexts.flatMap((context) => context.kv)),
    recurrentBytes: sum(contexts.flatMap((context) => context.recurrent ?? [])),
    computeBytes: sum(contexts.flatMap((context) => context.compute)),
    outputBytes: sum(contexts.flatMap((context) => context.output)),
  };
}
