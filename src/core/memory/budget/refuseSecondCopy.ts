import type { MemoryReport } from "./memoryReport";
import { bytes, say } from "../../text";
import { UserError } from "../../userError";

/** No probe goes deeper; llama-bench makes its cache no larger than it needs. */
const deepest = 66_560;

/**
 * Refuses to load a model beside what runs where one of the devices has no room for it: half-swapped, it would measure the
 * disk, and may end the server. Nothing is refused where nobody knows what is free.
 * @param serverRuns the report counts what the running server holds as free, because an estimate does not need it again
 */
export function refuseSecondCopy({ devices, context }: MemoryReport, serverRuns: boolean): void {
  const share = Math.min(1, deepest / Math.max(1, context.nCtx));
  for (const { name, freeBytes, totalBytes, modelBytes, computeBytes, contextBytes } of devices) {
    if (freeBytes === undefined) continue;
    const needed = modelBytes + computeBytes + share * contextBytes;
    const free = Math.max(0, freeBytes - (serverRuns ? totalBytes : 0));
    if (needed <= free) continue;
    throw new UserError(
      "tooLarge",
      say`llama-bench would load the model again: ${name} needs ${bytes(needed)}, but only ${bytes(free)} is free.`,
      serverRuns
        ? say`Probe the running server instead, or stop it first.`
        : say`Use a smaller model, put fewer layers on that device, or close what uses its memory.`,
    );
  }
}
