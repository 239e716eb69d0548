/** What was measured of this machine's memory at one moment; bytes. */
export interface LiveMemory {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** GPUs; empty where none can be read cheaply. */
  readonly devices: readonly LiveDevice[];
  readonly host: LiveDevice;
  /** The running server's own process, where it is one of this machine's. */
  readonly server?: ServerMemory;
}

export interface LiveDevice {
  readonly name: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
}

export interface ServerMemory {
  readonly pid: number;
  /** Host memory it holds, mapped weights included. */
  readonly residentBytes: number;
  /** Of its memory, what the system has moved to disk; absent where nobody tells. */
  readonly swappedBytes?: number;
  /** What it holds on devices, as far as the driver tells of single processes. */
  readonly devices?: readonly { readonly name: string; readonly bytes: number }[];
}
