import { SlotWatch, type SeenPrefill } from "../../core/bench/slotWatch";
import type { ServerActivity } from "../../core/bench/serverActivity";
import { timingBetween, type PromptCounters } from "../../core/bench/serverMetrics";
import type { SlotProgress } from "../../core/bench/slotProgress";
import { livePrefill } from "../../core/prefill/livePrefill";
import type { RequestTiming } from "../../core/prefill/liveTimings";
import { reportOf } from "../../core/report/gaugeState";
import type { GaugeReport } from "../../core/report/gaugeReport";
import type { Gauge } from "../estimate/gauge";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import { onNewReport } from "../estimate/newReports";
import type { SpeedMeasurements } from "./speedMeasurements";
import { append } from "../../core/lists";
import { inBackground } from "../editor/background";

export interface ServerWatchParts {
  readonly gauge: Pick<Gauge, "state" | "onDidChange">;
  readonly measurements: Pick<SpeedMeasurements, "live" | "measuring">;
  /** One look at the server of the last estimate; undefined where there is none to look at. */
  readonly look: (counters: boolean, signal: AbortSignal) => Promise<ServerActivity | undefined>;
  /** A prompt of somebody else's was read. */
  readonly learn: (timing: RequestTiming) => void;
  /** Whether anybody can see the result. */
  readonly isSeen: () => boolean;
  /** Milliseconds. */
  readonly now: () => number;
}

/** Who sees what the server was seen to do; while it knows more from a log, the server is left alone. */
export interface LogReader {
  readonly hasLog: boolean;
  looked(activity: ServerActivity): void;
}

const busyMs = 1000;
const idleMs = 3000;
/** After an estimate, or after the last prompt that was seen, somebody may be about to send something. */
const attentionMs = 10 * 60_000;

/**
 * Looks at the server while a prompt may be read: for some minutes after an estimate, and only while somebody sees it. A
 * server that is left alone may then fall asleep as its owner wants.
 */
export class ServerWatch implements Disposable {
  private readonly store = new DisposableStore();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private looking: AbortController | undefined;
  private watch = new SlotWatch();
  private until = 0;
  private url: string | undefined;
  /** Whether the server counts what it reads (`--metrics`); undefined until it was asked. */
  private counts: boolean | undefined;
  private busy = false;
  /** Counters of the last look at an idle server, and what was seen of prompts since. */
  private idle: PromptCounters | undefined;
  private pending: RequestTiming[] = [];
  private log: LogReader | undefined;

  constructor(private readonly parts: ServerWatchParts) {
    this.store.add(onNewReport(parts.gauge, (report) => this.estimated(report)));
    this.store.add({ dispose: () => this.stop() });
  }

  lookedBy(log: LogReader): void {
    this.log = log;
  }

  /** Somebody looks again. */
  resume(): void {
    if (this.url !== undefined && this.timer === undefined && this.looking === undefined) this.schedule(0);
  }

  dispose(): void {
    this.store.dispose();
  }

  /** A new estimate names the server, and starts the minutes anew. */
  private estimated({ server }: GaugeReport): void {
    const url = server.known && !server.value.sleeping ? server.value.url : undefined;
    if (url !== this.url) {
      this.stop();
      this.url = url;
      this.counts = undefined;
      this.forget();
    }
    this.until = this.parts.now() + attentionMs;
    this.resume();
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      inBackground(this.look());
    }, ms);
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.looking?.abort();
    this.looking = undefined;
    this.parts.measurements.live(undefined);
  }

  private async look(): Promise<void> {
    const { measurements, isSeen, now, look } = this.parts;
    // our own measurement reads prompts, too, and says more about itself
    if (measurements.measuring) {
      this.forget();
      measurements.live(undefined);
      this.schedule(idleMs);
      return;
    }
    if (isSeen() && this.log?.hasLog === true) {
      this.forget();
      this.schedule(idleMs);
      return;
    }
    if (!isSeen() || now() > this.until) {
      measurements.live(undefined);
      return;
    }
    const controller = new AbortController();
    this.looking = controller;
    try {
      const asksCounters = this.counts !== false && !this.busy;
      const found = await look(asksCounters, controller.signal);
      if (controller.signal.aborted) return;
      if (found?.slots === undefined) {
        // it tells nothing, or is gone: the next estimate will say
        measurements.live(undefined);
        this.url = undefined;
        return;
      }
      if (asksCounters) this.counts = found.counters !== undefined;
      // a log was found meanwhile: it says more
      if (this.log?.hasLog !== true) {
        this.log?.looked(found);
        this.take(found, found.slots);
      }
      this.schedule(this.busy ? busyMs : idleMs);
    } catch {
      measurements.live(undefined);
    } finally {
      if (this.looking === controller) this.looking = undefined;
    }
  }

  private forget(): void {
    this.watch = new SlotWatch();
    this.busy = false;
    this.idle = undefined;
    this.pending = [];
  }

  private take({ at, counters }: ServerActivity, slots: readonly SlotProgress[]): void {
    const { reading, finished, busy } = this.watch.see(slots, at);
    this.busy = busy;
    append(this.pending, finished);
    if (reading.length > 0) this.until = Math.max(this.until, this.parts.now() + attentionMs);
    this.show(reading);
    if (this.counts === false) this.learnWhatWasSeen();
    else if (counters !== undefined && !busy) this.learnFrom(counters);
  }

  private show(reading: readonly SeenPrefill[]): void {
    const report = reportOf(this.parts.gauge.state);
    // several at once: the one that has the most to show
    const [longest] = reading.toSorted((p, q) => q.progress.length - p.progress.length);
    this.parts.measurements.live(
      longest && livePrefill(longest, { curve: report?.curve, expected: report?.acceptance.promptTokens }),
    );
  }

  /** The server's own counters are exact for one prompt alone; of several only what was seen can be told apart. */
  private learnFrom(counters: PromptCounters): void {
    const exact =
      this.idle !== undefined && this.pending.length <= 1 ? timingBetween(this.idle, counters) : undefined;
    this.idle = counters;
    if (exact === undefined) this.learnWhatWasSeen();
    else {
      this.pending = [];
      this.parts.learn(exact);
    }
  }

  private learnWhatWasSeen(): void {
    const seen = this.pending;
    this.pending = [];
    for (const timing of seen) this.parts.learn(timing);
  }
}
