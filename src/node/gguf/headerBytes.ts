/** A file's first bytes, grown on demand. */
export interface HeaderBytes {
  readonly fileBytes: number;
  /** At least `wanted` bytes from the start, or all there are. */
  first(wanted: number): Promise<Uint8Array>;
  close(): Promise<void>;
}
