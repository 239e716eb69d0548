/** What one place says about a device's memory; bytes. */
export interface MeasuredDevice {
  readonly name: string;
  readonly description: string;
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly from: "llama.cpp" | "driver" | "sysfs";
}
