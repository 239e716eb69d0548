import type { BaselineComparison } from "../../core/history/baseline";
import {
  noSpeed,
  type KnownRuns,
  type MeasurementReport,
  type ShownComparison,
  type SpeedState,
} from "../../core/report/speedState";
import type { LivePrefill } from "../../core/prefill/livePrefill";
import type { ToPanel } from "../../core/protocol/panelMessages";
import { say, type Text } from "../../core/text";
import { UserError } from "../../core/userError";
import { Emitter, type Disposable } from "../editor/lifecycle";
import type { PanelPart } from "../panel/panelPart";

/** Holds what is measured and what was, and is the only one to change it. One measurement runs at a time. */
export class SpeedMeasurements implements PanelPart, Disposable {
  private readonly changes = new Emitter<SpeedState>();
  private current: SpeedState = noSpeed;
  private running: AbortController | undefined;
  private readonly ended = new AbortController();

  /** Fires after every change of `state`. */
  readonly onDidChange = this.changes.event;

  constructor(private readonly readRuns: (signal: AbortSignal) => Promise<KnownRuns>) {}

  get state(): SpeedState {
    return this.current;
  }

  get message(): ToPanel {
    return { type: "speed", speed: this.current };
  }

  /** The history may have been written by another window. */
  pageOpened(): Promise<void> {
    return this.refresh();
  }

  get measuring(): boolean {
    return this.running !== undefined;
  }

  /** Shows a measurement while it runs, and the history after it; the panel can cancel it as well as its caller. */
  async measure<T>(
    title: Text,
    signal: AbortSignal,
    run: (report: MeasurementReport, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.running !== undefined) {
      throw new UserError(
        "invalidInput",
        say`A measurement is already running; two at once would disturb each other.`,
        say`Wait until it ends, or stop it.`,
      );
    }
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    this.running = controller;
    this.set({ running: { title } });
    try {
      return await run(
        {
          plan: (plan) => this.set({ running: { ...this.current.running, title, plan } }),
          progress: (progress) => this.set({ running: { ...this.current.running, title, progress } }),
        },
        controller.signal,
      );
    } finally {
      signal.removeEventListener("abort", abort);
      this.running = undefined;
      const { running: _, ...rest } = this.current;
      this.current = rest;
      await this.refresh();
    }
  }

  /** Ends the running measurement; what it has measured is kept. */
  cancel(): void {
    this.running?.abort(new DOMException("cancelled", "AbortError"));
  }

  /** Reads the history again. */
  async refresh(): Promise<void> {
    // a history that cannot be read is told by who writes or exports it; here there are then no runs
    const known = await this.readRuns(this.ended.signal).catch(() => noSpeed);
    if (this.ended.signal.aborted) return;
    this.set({ runs: known.runs, unreadable: known.unreadable });
  }

  live(live: LivePrefill | undefined): void {
    if (live === undefined && this.current.live === undefined) return;
    const { live: _, ...rest } = this.current;
    this.publish(live === undefined ? rest : { ...rest, live });
  }

  compared({ results, conclusions }: ShownComparison): void {
    this.set({ comparison: { results, conclusions } });
  }

  besideBaseline(baseline: BaselineComparison): void {
    this.set({ baseline });
  }

  dispose(): void {
    this.cancel();
    this.ended.abort();
    this.changes.dispose();
  }

  private set(changes: Partial<SpeedState>): void {
    this.publish({ ...this.current, ...changes });
  }

  private publish(state: SpeedState): void {
    this.current = state;
    this.changes.fire(state);
  }
}
