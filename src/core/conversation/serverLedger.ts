import type { CurvePoint } from "../prefill/depthCurve";
import { readAgain, type KnownConversation, type ReadRequest } from "./rereadCause";
import {
  outcomeOf,
  promptOf,
  readActive,
  runningRequest,
  type Active,
  type SlotChoice,
} from "./activeRequest";
import type { RequestRecord, RunningRequest } from "./requestRecord";
import type { ServerEvent, SlotEvent } from "./serverEvent";
import { progressSpans } from "./spans";

/** A conversation, written on. */
interface Conversation {
  readonly id: number;
  slot: number;
  request: number;
  promptTokens: number;
  generatedTokens: number;
  fillTokens: number;
  shifted: boolean;
  largestGrowth: number;
  /** How often copies had been removed when it last ended. */
  removals: number;
}

interface Slot {
  /** Tokens in it; undefined where the log begins later. */
  holds?: number | undefined;
  conversation?: Conversation | undefined;
  erased: number[];
  chosen?: SlotChoice | undefined;
  /** Slots at work when it was chosen. */
  busy: ReadonlySet<number>;
  active?: Active | undefined;
}

/** Busy times of slots, to tell which prompts were read alone. */
interface Interval {
  readonly slot: number;
  readonly from: number;
  readonly to: number;
}

const keptIntervals = 64;
const keptConversations = 32;
const keptErased = 64;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Follows one start of one llama-server through its lines. */
export class ServerLedger {
  limit: number | undefined;
  private threshold: number | undefined;
  private readonly slots = new Map<number, Slot>();
  private conversations: Conversation[] = [];
  private intervals: Interval[] = [];
  private timed: Slot | undefined;
  private removals = 0;
  private copies: ReadRequest["copies"] = "unknown";
  private memory: ReadRequest["memory"];
  /** Lines of `-lv 4` were seen: what they would have said of checkpoints is known. */
  private verbose = false;
  used = false;

  /** @param next free numbers of the whole log */
  constructor(
    private readonly place: { readonly source: string; readonly start: number },
    private readonly next: { readonly record: () => number; readonly conversation: () => number },
  ) {}

  read(event: ServerEvent, at: number | undefined): RequestRecord | undefined {
    if (event.kind === "ofSlot") return this.readSlot(event.slot, event.task, event.event, at);
    this.readServer(event);
    return undefined;
  }

  private readServer(event: Exclude<ServerEvent, { kind: "ofSlot" }>): void {
    switch (event.kind) {
      case "slots":
        this.used = true;
        this.limit = event.limit ?? this.limit;
        // builds that print all three keep copies of idle conversations unless they say otherwise
        if (event.unified !== undefined && this.copies === "unknown") this.copies = "kept";
        break;
      case "noCacheRam":
        this.copies = "off";
        break;
      case "copyRemoved":
        this.removals++;
        break;
      case "purged": {
        const slot = this.slot(event.slot);
        slot.holds = 0;
        slot.conversation = undefined;
        break;
      }
      case "refused":
        this.limit = event.limit;
        this.activeOf(event.task, (active) => {
          active.refused = true;
          active.promptTokens = event.promptTokens;
        });
        break;
      case "cancelled":
        this.activeOf(event.task, (active) => (active.cancelled = !active.refused));
        break;
      case "poolFull":
        for (const { active } of this.slots.values()) if (active !== undefined) active.failed = true;
        break;
      case "prefill":
      case "generation": {
        this.used = true;
        const active = this.timed?.active;
        if (active !== undefined) active[event.kind] = event;
        break;
      }
      default:
    }
  }

  readSlot(id: number, task: number, event: SlotEvent, at: number | undefined): RequestRecord | undefined {
    this.used = true;
    const slot = this.slot(id);
    const { active } = slot;
    switch (event.kind) {
      case "similar":
        this.threshold = event.threshold ?? this.threshold;
        slot.chosen = event;
        slot.busy = this.busySlots();
        break;
      case "oldest":
        slot.chosen = event;
        slot.busy = this.busySlots();
        if (event.holds !== undefined) {
          if (event.holds === 0) slot.conversation = undefined;
          slot.holds = event.holds;
        }
        break;
      case "chosenById":
        slot.chosen = event;
        slot.busy = this.busySlots();
        break;
      case "launch":
        this.launch(slot, task, at);
        break;
      case "checkpointErased":
        slot.erased.push(event.tokens);
        if (slot.erased.length > keptErased) slot.erased.shift();
        this.memory = "checkpoints";
        break;
      case "checkpointMade":
        slot.erased = slot.erased.filter((position) => position !== event.tokens);
        this.memory = "checkpoints";
        break;
      case "timingsFollow":
        this.timed = slot;
        break;
      case "release":
        if (active !== undefined) return this.release(id, slot, active, event, at);
        this.releaseUnseen(slot, event);
        break;
      default:
        if (active !== undefined) readActive(active, event, at);
        if (event.kind === "prompt") {
          this.limit = event.limit;
          this.verbose = true;
        }
    }
    return undefined;
  }

  private slot(id: number): Slot {
    const found = this.slots.get(id);
    if (found !== undefined) return found;
    const slot: Slot = { erased: [], busy: new Set() };
    this.slots.set(id, slot);
    return slot;
  }

  private busySlots(): ReadonlySet<number> {
    const busy = new Set<number>();
    for (const [id, { active }] of this.slots) if (active !== undefined) busy.add(id);
    return busy;
  }

  private activeOf(task: number, change: (active: Active) => void): void {
    for (const { active } of this.slots.values()) if (active?.task === task) change(active);
  }

  private launch(slot: Slot, task: number, at: number | undefined): void {
    let together = false;
    for (const other of this.slots.values()) {
      if (other === slot || other.active === undefined) continue;
      other.active.together = true;
      together = true;
    }
    slot.active = {
      task,
      startedAt: at,
      chosen: slot.chosen,
      held: slot.holds,
      busy: slot.busy,
      discarded: 0,
      ...{ wentBack: false, cancelled: false, failed: false, refused: false, together },
      progress: [],
    };
    slot.chosen = undefined;
  }

  /** The end of a request whose beginning is not in the log: only what the slot holds is known. */
  private releaseUnseen(slot: Slot, { tokens }: { readonly tokens: number }): void {
    slot.holds = tokens;
    slot.conversation = undefined;
  }

  private release(
    id: number,
    slot: Slot,
    active: Active,
    { tokens: fill, truncated }: { readonly tokens: number; readonly truncated: boolean },
    at: number | undefined,
  ): RequestRecord {
    slot.active = undefined;
    this.keepInterval(id, active.startedAt, at);
    const outcome = outcomeOf(active, truncated);
    const { prefill, generation, startedAt } = active;
    const promptTokens = active.promptTokens ?? promptOf(active, fill);
    const cached =
      prefill === undefined || promptTokens === undefined
        ? active.cachedTokens
        : promptTokens - prefill.tokens;
    // figures that do not add up are not guessed at
    const cachedTokens = cached !== undefined && cached >= 0 ? cached : undefined;
    const adds = cached === undefined || cached >= 0;
    const number = this.next.record();
    const { source, start } = this.place;
    const { task } = active;
    const record: Writable<RequestRecord> = { number, start, slot: id, task, conversation: 0, outcome };
    if (source !== "") record.source = source;
    if (startedAt !== undefined) record.startedAt = startedAt;
    if (at !== undefined) record.endedAt = at;
    if (this.limit !== undefined) record.limit = this.limit;
    if (adds && promptTokens !== undefined) record.promptTokens = promptTokens;
    record.fillTokens = fill;
    if (outcome === "refused") {
      // nothing was read: the slot is as it was
      record.conversation = slot.conversation?.id ?? this.next.conversation();
      return record;
    }
    const read =
      adds && promptTokens !== undefined && cachedTokens !== undefined && prefill !== undefined
        ? this.judge(slot, active, promptTokens, cachedTokens)
        : undefined;
    record.conversation = this.goOn(slot, id, active, {
      number,
      fill,
      promptTokens: adds ? promptTokens : undefined,
      continued: read?.conversation,
    }).id;
    slot.holds = fill;
    if (cachedTokens !== undefined) record.cachedTokens = cachedTokens;
    if (prefill !== undefined) {
      record.readTokens = prefill.tokens;
      record.prefillSeconds = prefill.seconds;
      if (read !== undefined) {
        record.againTokens = read.tokens;
        record.newTokens = prefill.tokens - read.tokens;
        if (read.reread !== undefined) {
          const seconds = prefill.seconds * (read.tokens / Math.max(1, prefill.tokens));
          record.reread = { ...read.reread, tokens: read.tokens, seconds };
        }
      }
    }
    if (generation !== undefined) {
      record.generatedTokens = generation.tokens;
      record.generationSeconds = generation.seconds;
    }
    if (active.together) record.disturbed = this.disturbance(id, active, at);
    const spans: readonly CurvePoint[] = progressSpans(active.progress, cachedTokens, prefill);
    if (spans.length > 0) record.spans = spans;
    return record;
  }

  private judge(slot: Slot, active: Active, promptTokens: number, cachedTokens: number) {
    const { chosen } = active;
    const own = slot.conversation && this.known(slot.conversation, active);
    const memory = this.memory ?? (this.verbose ? "plain" : undefined);
    return readAgain({
      promptTokens,
      cachedTokens,
      chosen:
        chosen?.kind === "similar"
          ? { by: "similarity", similarity: chosen.similarity, kept: chosen.kept }
          : { by: chosen?.kind === "oldest" ? "age" : "other" },
      held: active.held,
      own,
      all: () => this.conversations.map((conversation) => this.known(conversation, active)),
      threshold: this.threshold,
      erased: slot.erased,
      wentBack: active.wentBack,
      memory,
      copies: this.copies,
    });
  }

  // field by field, as everything here that each request of a long log goes through: spreading costs ten times as much
  private known(conversation: Conversation, active: Active): KnownConversation {
    const { slot } = conversation;
    return {
      id: conversation.id,
      slot,
      request: conversation.request,
      promptTokens: conversation.promptTokens,
      generatedTokens: conversation.generatedTokens,
      fillTokens: conversation.fillTokens,
      shifted: conversation.shifted,
      largestGrowth: conversation.largestGrowth,
      busy: active.busy.has(slot),
      held: this.slots.get(slot)?.conversation === conversation,
      copiesRemoved: conversation.removals < this.removals,
    };
  }

  /** Writes the conversation on that a request belongs to; a new one where it belongs to none. */
  private goOn(
    slot: Slot,
    id: number,
    { generation, discarded }: Active,
    request: {
      readonly number: number;
      readonly fill: number;
      readonly promptTokens: number | undefined;
      readonly continued: number | undefined;
    },
  ): Conversation {
    const promptTokens = request.promptTokens ?? request.fill;
    const found = this.conversations.find((conversation) => conversation.id === request.continued);
    const conversation = found ?? this.newConversation();
    if (found !== undefined) {
      conversation.largestGrowth = Math.max(found.largestGrowth, promptTokens - found.promptTokens);
      for (const other of this.slots.values())
        if (other !== slot && other.conversation === found) other.conversation = undefined;
    }
    conversation.slot = id;
    conversation.request = request.number;
    conversation.promptTokens = promptTokens;
    conversation.generatedTokens = generation?.tokens ?? 0;
    conversation.fillTokens = request.fill;
    conversation.shifted = discarded > 0;
    conversation.removals = this.removals;
    if (slot.conversation !== conversation) slot.erased = found === undefined ? [] : slot.erased;
    slot.conversation = conversation;
    return conversation;
  }

  private newConversation(): Conversation {
    const conversation: Conversation = {
      ...{
        id: this.next.conversation(),
        slot: 0,
        request: 0,
        promptTokens: 0,
        generatedTokens: 0,
        fillTokens: 0,
      },
      ...{ shifted: false, largestGrowth: 0, removals: 0 },
    };
    this.conversations.push(conversation);
    if (this.conversations.length > keptConversations) this.conversations.shift();
    return conversation;
  }

  private keepInterval(slot: number, from: number | undefined, to: number | undefined): void {
    if (from === undefined || to === undefined) return;
    this.intervals.push({ slot, from, to });
    if (this.intervals.length > keptIntervals) this.intervals.shift();
  }

  /** Whether other slots worked while the prompt was read, and while the answer was written. */
  private disturbance(id: number, active: Active, at: number | undefined) {
    const { startedAt, prefill } = active;
    if (startedAt === undefined || at === undefined || prefill === undefined)
      return { prefill: true, generation: true };
    const read = startedAt + prefill.seconds;
    const others = [
      ...this.intervals.filter(({ slot }) => slot !== id),
      ...[...this.slots].flatMap(([slot, { active: other }]) =>
        slot === id || other?.startedAt === undefined ? [] : [{ slot, from: other.startedAt, to: at }],
      ),
    ];
    const overlaps = (from: number, to: number): boolean =>
      others.some((other) => other.from < to && other.to > from);
    return { prefill: overlaps(startedAt, read), generation: overlaps(read, at) };
  }

  /** Requests the log ends in. */
  running(): RunningRequest[] {
    return [...this.slots].flatMap(([id, slot]) =>
      slot.active === undefined ? [] : [runningRequest(id, slot.active, this.limit)],
    );
  }
}
