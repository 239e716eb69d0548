import type { ServerActivity } from "../../core/bench/serverActivity";
import type { Ledger } from "../../core/conversation/ledger";
import { noConversation } from "../../core/conversation/shownConversation";
import type { ShownConversation } from "../../core/conversation/shownConversation";
import type { Showing } from "../../core/conversation/showing";
import type { LedgerUpdate } from "../../core/conversation/source";
import type { LivePrefill } from "../../core/prefill/livePrefill";
import type { RequestTiming } from "../../core/prefill/liveTimings";
import { reportOf } from "../../core/report/gaugeState";
import { inBackground } from "../editor/background";
import { DisposableStore, Emitter, type Disposable } from "../editor/lifecycle";
import type { Gauge } from "../estimate/gauge";
import { onNewReport } from "../estimate/newReports";
import type { SpeedMeasurements } from "../speed/speedMeasurements";

export interface ConversationWatchParts {
  readonly gauge: Pick<Gauge, "state" | "onDidChange">;
  readonly measurements: Pick<SpeedMeasurements, "live" | "measuring">;
  /** What reads ledgers; it is loaded when somebody wants to see one. */
  readonly loadShowing: () => Promise<Showing>;
  /** Tells what the log of the server in use says, and what it says more, until it is disposed. */
  readonly follow: (show: (update: LedgerUpdate) => void) => Promise<Disposable>;
  /** A prompt of somebody else's was read. */
  readonly learn: (timing: RequestTiming) => void;
  /** Whether somebody sees the result and there is something to look for. */
  readonly isWanted: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const tickMs = 1000;
/** A request whose server says nothing for so long has ended with its server. */
const lostSeconds = 15 * 60;
/** Shorter prompts say something about overhead, not about the cost per token. */
const leastTokens = 512;

/** The requests of the server in use, from its log, else from what its slots tell; followed only while somebody sees it. */
export class ConversationWatch implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = this.store.add(new Emitter<ShownConversation>());
  private following: Promise<Disposable> | undefined;
  private told: LedgerUpdate = {};
  private current: ShownConversation = noConversation;
  private ticking: ReturnType<typeof setTimeout> | undefined;
  private showing: Showing | undefined;
  /** Number of the last request that was learned from, or that was there before. */
  private learned: { readonly file: string; upTo: number } | undefined;

  readonly onDidChange = this.changes.event;

  constructor(private readonly parts: ConversationWatchParts) {
    let server: string | undefined;
    this.store.add(
      onNewReport(parts.gauge, () => {
        const url = this.reportUrl();
        if (url !== server || this.following === undefined) this.restart();
        server = url;
      }),
    );
    this.store.add({ dispose: () => this.stop() });
  }

  get value(): ShownConversation {
    return this.current;
  }

  /** A log tells more than asking the server would. */
  get hasLog(): boolean {
    return (
      this.following !== undefined && this.told.ledger !== undefined && this.told.source?.kind !== "slots"
    );
  }

  /** Somebody looks, or nobody does any more. */
  update(): void {
    if (!this.parts.isWanted()) {
      this.stop();
      return;
    }
    // what was shown has become older meanwhile
    if (this.following !== undefined) this.show();
    this.following ??= this.follow();
  }

  /** Another log may be the right one now. */
  restart(): void {
    this.stop();
    this.update();
  }

  /** What the server was seen to do, where it has no log. */
  looked(activity: ServerActivity): void {
    const url = this.reportUrl();
    if (this.hasLog || this.showing === undefined || activity.slots === undefined || url === undefined)
      return;
    this.told = this.showing.see(url, activity, this.parts.now());
    this.show();
  }

  dispose(): void {
    this.store.dispose();
  }

  private async follow(): Promise<Disposable> {
    this.showing ??= await this.parts.loadShowing();
    return this.parts.follow((update) => this.take(update));
  }

  private stop(): void {
    const { following } = this;
    if (following === undefined) return;
    const hadLog = this.hasLog;
    this.following = undefined;
    clearTimeout(this.ticking);
    this.ticking = undefined;
    if (hadLog) this.parts.measurements.live(undefined);
    inBackground(following.then((its) => its.dispose()));
  }

  private take(update: LedgerUpdate): void {
    if (this.following === undefined) return;
    // without a log what the slots told stays
    if (update.source === undefined && this.told.source?.kind === "slots") return;
    this.told = update;
    if (update.ledger !== undefined) this.learnFrom(update.ledger);
    this.show();
  }

  private show(): void {
    if (this.showing === undefined) return;
    const estimated = reportOf(this.parts.gauge.state)?.curve;
    this.current = this.showing.show(this.told, this.parts.now(), estimated);
    if (this.hasLog && !this.parts.measurements.measuring) this.parts.measurements.live(this.live());
    this.changes.fire(this.current);
    this.tick();
  }

  /** While a prompt is read, its time counts down without anything being read. */
  private tick(): void {
    clearTimeout(this.ticking);
    this.ticking = undefined;
    if (this.following === undefined || this.live() === undefined) return;
    this.ticking = setTimeout(() => {
      if (this.parts.isWanted()) this.show();
      else this.stop();
    }, tickMs);
  }

  /** Of several prompts the one that has been read for longest. */
  private live(): LivePrefill | undefined {
    const reading = this.current.programs
      .flatMap(({ running }) => running)
      .flatMap(({ live }) => (live === undefined || (live.quietSeconds ?? 0) > lostSeconds ? [] : [live]));
    return reading.toSorted((one, other) => (other.elapsedSeconds ?? 0) - (one.elapsedSeconds ?? 0))[0];
  }

  /** Every prompt of the estimated server is a measurement of its setup; our own say more about themselves. */
  private learnFrom({ requests }: Ledger): void {
    const { source } = this.told;
    if (source === undefined || source.kind === "slots") return;
    const last = requests.at(-1)?.number ?? 0;
    const isOther = "url" in source ? source.url !== this.reportUrl() : true;
    if (this.learned?.file !== source.file || isOther || this.parts.measurements.measuring) {
      this.learned = { file: source.file, upTo: last };
      return;
    }
    for (const request of requests) {
      const { number, cachedTokens: cached, readTokens: tokens = 0, prefillSeconds: seconds } = request;
      if (number <= this.learned.upTo || cached === undefined || seconds === undefined) continue;
      if (tokens < leastTokens || request.disturbed?.prefill === true) continue;
      const { spans } = request;
      this.parts.learn({ cached, tokens, seconds, ...(spans !== undefined && { spans }) });
    }
    this.learned.upTo = last;
  }

  private reportUrl(): string | undefined {
    const server = reportOf(this.parts.gauge.state)?.server;
    return server?.known === true ? server.value.url : undefined;
  }
}
