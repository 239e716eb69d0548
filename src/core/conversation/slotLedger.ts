import type { SlotProgress } from "../bench/slotProgress";
import { FactReader } from "../logs/reading/factReader";
import type { Ledger } from "./ledger";
import type { RequestRecord, RunningRequest } from "./requestRecord";

const keptRequests = 1000;
const nothingLogged = new FactReader().result();

interface Seen {
  readonly task: number;
  readonly began: number;
  /** It has been written down. */
  done: boolean;
  latest: SlotProgress;
  progress: { readonly tokens: number; readonly seconds: number }[];
}

/**
 * The ledger of a server that has no log to read: what its slots tell from look to look. They do not tell what was read again, what was
 * refused, how long it took and how it ended; all this stays empty.
 */
export class SlotLedger {
  private readonly slots = new Map<number, Seen>();
  private readonly conversations = new Map<number, RequestRecord>();
  private requests: RequestRecord[] = [];
  private numbers = 0;
  private nextConversation = 0;
  private limit: number | undefined;

  /** @param at seconds, by a clock that only goes forward */
  see(slots: readonly SlotProgress[], at: number): Ledger {
    for (const slot of slots) this.seeSlot(slot, at);
    const requests = this.requests.slice(-keptRequests);
    return {
      requests,
      earlier: this.numbers - requests.length,
      running: [...this.slots.values()].flatMap((seen) => (seen.done ? [] : [runningOf(seen)])),
      servers: [
        {
          start: 1,
          ...(this.limit !== undefined && { limit: this.limit }),
          lastSeconds: at,
          facts: nothingLogged,
        },
      ],
      lines: 0,
      unknown: { lines: 0 },
    };
  }

  private seeSlot(slot: SlotProgress, at: number): void {
    this.limit = slot.limit ?? this.limit;
    const known = this.slots.get(slot.id);
    if (slot.task === undefined) return;
    if (known?.task === slot.task) {
      const tokens = slot.processed;
      if (tokens > known.latest.processed) known.progress.push({ tokens, seconds: at - known.began });
      known.latest = slot;
      if (!slot.busy && !known.done) this.write(known, at, true);
      return;
    }
    // of the one before, the end was not seen
    if (known !== undefined && !known.done) this.write(known, at, false);
    const seen: Seen = { task: slot.task, began: at, done: false, latest: slot, progress: [] };
    const first = known === undefined;
    this.slots.set(slot.id, seen);
    if (slot.busy) return;
    // what a slot holds when it is first looked at is of any age; later it came and went between two looks
    if (first) seen.done = true;
    else this.write(seen, at, true);
  }

  private write(seen: Seen, at: number, whole: boolean): void {
    const { latest: slot, task } = seen;
    seen.done = true;
    const isRead = slot.generated > 0;
    const promptTokens = isRead ? slot.cached + slot.processed : undefined;
    const before = this.conversations.get(slot.id);
    const goesOn =
      before?.promptTokens !== undefined &&
      promptTokens !== undefined &&
      slot.cached > 0 &&
      promptTokens > before.promptTokens;
    const record: RequestRecord = {
      number: ++this.numbers,
      start: 1,
      slot: slot.id,
      task,
      endedAt: at,
      conversation: goesOn ? before.conversation : ++this.nextConversation,
      ...(this.limit !== undefined && { limit: this.limit }),
      cachedTokens: slot.cached,
      ...(isRead && { readTokens: slot.processed }),
      ...(promptTokens !== undefined && { promptTokens }),
      ...(whole && isRead && { generatedTokens: slot.generated }),
      // the last token of an answer is never decoded
      ...(whole && promptTokens !== undefined && { fillTokens: promptTokens + slot.generated - 1 }),
      outcome: "ended",
    };
    this.conversations.set(slot.id, record);
    this.requests.push(record);
    if (this.requests.length > keptRequests * 2) this.requests = this.requests.slice(-keptRequests);
  }
}

function runningOf({ task, began, latest: slot, progress }: Seen): RunningRequest {
  const isRead = slot.generated > 0;
  const promptTokens = slot.cached + slot.processed;
  return {
    slot: slot.id,
    task,
    startedAt: began,
    ...(slot.limit !== undefined && { limit: slot.limit }),
    stage: isRead ? "answering" : "reading",
    ...(isRead && { promptTokens: { low: promptTokens, high: promptTokens } }),
    cachedTokens: slot.cached,
    progress,
    ...(isRead && { generatedTokens: slot.generated }),
  };
}
