import type { Estimate, EstimateRequest, Estimates } from "../../app/estimates";
import { reportWithout } from "../../core/report/fileChoice";
import type { GaugeReport } from "../../core/report/gaugeReport";
import { reportOf, type EstimateProgress, type Failure, type GaugeState } from "../../core/report/gaugeState";
import type { Estimated } from "../../core/report/situation";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { Emitter, type Disposable } from "../editor/lifecycle";
import { inBackground } from "../editor/background";

export type EstimateOutcome =
  | { readonly kind: "done"; readonly report: GaugeReport }
  /** By the user, by a newer request, or because the window closes. */
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly error: unknown };

interface Wanted {
  readonly request: EstimateRequest;
  /** Nothing is shown of it until it is done. */
  readonly quiet: boolean;
  readonly resolve: (outcome: EstimateOutcome) => void;
}

const progressIntervalMs = 100;
/** An estimate that asks server and machine takes so many times what counting known files again takes. */
const askingShare = 5;

/**
 * Holds what is known and is the only one to change it. One estimate runs at a time; a newer request aborts it and
 * waits until it has ended, a third one takes the waiting one's place.
 */
export class Gauge implements Disposable {
  private readonly changes = new Emitter<GaugeState>();
  private current: GaugeState = { status: "idle" };
  /** What a cancelled estimate falls back to. */
  private settled: GaugeState = this.current;
  /** What was counted last; the report on show is it, or of another choice of its files. */
  private counted: Estimate | undefined;
  private running: { readonly controller: AbortController; readonly quiet: boolean } | undefined;
  private waiting: Wanted | undefined;
  private draining = false;
  private revision = 0;
  private disposed = false;
  private expectedSeconds = 0;
  /** Something changed while an estimate was under way: it may not know it. */
  private outdated = false;

  /** Fires after every change of `state`. */
  readonly onDidChange = this.changes.event;

  constructor(
    private readonly estimates: Pick<Estimates, "estimate">,
    private readonly now: () => number,
    /** What `refresh` repeats; given at the start, the request of an earlier window. */
    private lastRequest?: EstimateRequest,
  ) {}

  get state(): GaugeState {
    return this.current;
  }

  /** The report on show, also while a newer one is made, and the situation it was made in. */
  get shown(): Estimated | undefined {
    const report = reportOf(this.current);
    return report && this.counted && { report, situation: this.counted.situation };
  }

  get request(): EstimateRequest | undefined {
    return this.lastRequest;
  }

  /** Whether the report on show was counted with the files it holds now. */
  get countedAsChosen(): boolean {
    return this.settled.status !== "ready" || this.settled.report === this.counted?.report;
  }

  /** Whether `recount` is at work. */
  get recounting(): boolean {
    return this.running?.quiet === true;
  }

  /** What `recount` will take: as the last time, before that a share of an estimate that also asked server and machine. */
  get recountSeconds(): number {
    return this.expectedSeconds;
  }

  estimate(request: EstimateRequest): Promise<EstimateOutcome> {
    return this.want(request, false);
  }

  /**
   * Counts again what is on show, with what is known of server and machine, and shows only the result. Gives way to every
   * other estimate; a failure makes the report stale.
   */
  recount(): Promise<EstimateOutcome> {
    const busy = this.waiting?.quiet === false || this.running?.quiet === false;
    if (busy || this.lastRequest === undefined || this.settled.status !== "ready") {
      return Promise.resolve({ kind: "cancelled" });
    }
    return this.want(this.lastRequest, true);
  }

  /** Takes these files out of the prompt and all others in. @param leftOut paths of the report's files */
  choose(leftOut: readonly string[]): void {
    if (this.lastRequest === undefined || this.counted === undefined) return;
    this.lastRequest = { ...this.lastRequest, leftOut };
    if (this.running?.quiet === true) this.running.controller.abort();
    if (this.settled.status !== "ready") return;
    const chosen = reportWithout(this.counted.report, new Set(leftOut));
    const shown = this.current === this.settled;
    this.settled = { ...this.settled, report: { ...chosen, revision: ++this.revision } };
    if (shown) this.publish(this.settled);
  }

  /** Ends the running estimate and drops the waiting one; what was known before is shown again. */
  cancel(): void {
    this.waiting?.resolve({ kind: "cancelled" });
    this.waiting = undefined;
    this.running?.controller.abort();
  }

  /** The files or settings behind the report are no longer what they were. */
  markStale(): void {
    this.outdated = true;
    if (this.settled.status !== "ready" || this.settled.stale) return;
    const stale: GaugeState = { ...this.settled, stale: true };
    if (this.current === this.settled) this.publish(stale);
    this.settled = stale;
  }

  dispose(): void {
    this.disposed = true;
    this.cancel();
    this.changes.dispose();
  }

  private want(request: EstimateRequest, quiet: boolean): Promise<EstimateOutcome> {
    return new Promise((resolve) => {
      if (this.disposed) {
        resolve({ kind: "cancelled" });
        return;
      }
      this.waiting?.resolve({ kind: "cancelled" });
      this.waiting = { request, quiet, resolve };
      this.running?.controller.abort();
      if (!this.draining) inBackground(this.drain());
    });
  }

  private async drain(): Promise<void> {
    this.draining = true;
    for (let wanted = this.next(); wanted !== undefined; wanted = this.next()) {
      const outcome = await this.run(wanted);
      const shown = this.current === this.settled;
      if (outcome.kind === "cancelled" && this.waiting === undefined && !shown) this.publish(this.settled);
      wanted.resolve(outcome);
    }
    this.draining = false;
  }

  private next(): Wanted | undefined {
    const wanted = this.waiting;
    this.waiting = undefined;
    return wanted;
  }

  private async run({ request, quiet }: Wanted): Promise<EstimateOutcome> {
    const controller = new AbortController();
    this.running = { controller, quiet };
    this.outdated = false;
    this.lastRequest = request;
    const started = this.now();
    const shown = reportOf(this.current);
    const last = shown === undefined ? {} : { last: shown };
    let published = -Infinity;
    const show = (progress: EstimateProgress): void => {
      if (quiet || controller.signal.aborted || this.now() - published < progressIntervalMs) return;
      published = this.now();
      this.publish({ status: "counting", progress, ...last });
    };
    try {
      show({ stage: "listing", filesDone: 0, filesFound: 0, tokens: 0 });
      const former = quiet ? this.counted : undefined;
      const made = await this.estimates.estimate(request, show, controller.signal, former);
      if (controller.signal.aborted) return { kind: "cancelled" };
      const report = { ...made.report, revision: ++this.revision };
      this.expectedSeconds = (this.now() - started) / (quiet ? 1000 : 1000 * askingShare);
      this.counted = { ...made, report };
      this.publish((this.settled = { status: "ready", report, stale: this.outdated }));
      return { kind: "done", report };
    } catch (error) {
      if (controller.signal.aborted) return { kind: "cancelled" };
      if (quiet) {
        this.markStale();
        return { kind: "failed", error };
      }
      this.publish((this.settled = { status: "failed", failure: failureOf(error), ...last }));
      return { kind: "failed", error };
    } finally {
      this.running = undefined;
    }
  }

  private publish(state: GaugeState): void {
    this.current = state;
    this.changes.fire(state);
  }
}

function failureOf(error: unknown): Failure {
  return error instanceof UserError
    ? { problem: error.problem, remedy: error.remedy }
    : { problem: say`Internal error in Llama Gauge.`, remedy: say`See the log for details.` };
}
