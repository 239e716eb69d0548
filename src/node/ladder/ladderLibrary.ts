import { readdir } from "node:fs/promises";
import path from "node:path";
import type { LadderRecord } from "../../core/ladder/score/record";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { LadderStore } from "./ladderStore";

export interface KeptLadder {
  readonly id: string;
  readonly record: LadderRecord;
}

/** Older ones stay where they are and are not looked at. */
const mostRead = 50;
const idPattern = /^\d{8}-\d{6}-\d{3}-[0-9a-f]+$/;

/** Names a ladder by its plan and the time it was begun (milliseconds since the epoch). */
export function ladderId(planHash: string, at: number): string {
  const time = new Date(at).toISOString().replace(/[-:Z]/g, "").replace("T", "-").replace(".", "-");
  return `${time}-${planHash}`;
}

/** The ladders that were run from the editor: a folder each, named by the time it was begun, and only ever added to. */
export class LadderLibrary {
  constructor(private readonly folder: string) {}

  folderOf(id: string): string {
    return path.join(this.folder, id);
  }

  /** Newest first. One that cannot be read is passed over. */
  async list(signal: AbortSignal): Promise<readonly KeptLadder[]> {
    const names = await readdir(this.folder).catch(() => []);
    const newest = names
      .filter((name) => idPattern.test(name))
      .toSorted()
      .reverse()
      .slice(0, mostRead);
    const kept: KeptLadder[] = [];
    for (const id of newest) {
      const stored = await this.#read(id, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        if (cause instanceof UserError) return undefined;
        throw cause;
      });
      if (stored !== undefined) kept.push(stored);
    }
    return kept;
  }

  async get(id: string, signal: AbortSignal): Promise<KeptLadder> {
    const stored = idPattern.test(id) ? await this.#read(id, signal) : undefined;
    if (stored !== undefined) return stored;
    throw new UserError("notFound", say`This ladder is no longer stored.`, say`Run it again.`);
  }

  async #read(id: string, signal: AbortSignal): Promise<KeptLadder | undefined> {
    const stored = await new LadderStore(this.folderOf(id)).read(signal);
    if (stored === undefined) return undefined;
    return { id, record: { header: stored.header, steps: stored.steps, warnings: [] } };
  }
}

/** Others of the same model on the same machine, newest first: what failed there before. */
export function earlierOf({ id, record }: KeptLadder, all: readonly KeptLadder[]): readonly LadderRecord[] {
  const { setup, machine } = record.header;
  return all
    .filter(
      (other) =>
        other.id !== id &&
        other.record.header.setup["model"] === setup["model"] &&
        other.record.header.machine.cpu === machine.cpu,
    )
    .map((other) => other.record);
}
