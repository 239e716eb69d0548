import type { MemoryReport } from "../memory/memoryReport";
import { bytes, say } from "../text";
import { UserError } from "../userError";

/**
 * Refuses to load a model beside what runs where one of the devices has no room for it: half-swapped, it would measure the
 * disk, and may end the server. Nothing is refused where nobody knows what is free.
 */
export function refuseSecondCopy({ devices }: MemoryReport, serverRuns: boolean): void {
  const full = devices.find(({ freeBytes, totalBytes }) => freeBytes !== undefined && totalBytes > freeBytes);
  if (full === undefined) return;
  throw new UserError(
    "tooLarge",
    say`llama-bench would load the model: ${full.name} needs ${bytes(full.totalBytes)}, ${bytes(full.freeBytes ?? 0)} are free.`,
    serverRuns
      ? say`Probe the running server instead, or stop it first.`
      : say`Use a smaller model, fewer layers on that device, or end what holds its memory.`,
  );
}
