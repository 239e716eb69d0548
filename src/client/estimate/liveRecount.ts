import type { Gauge } from "./gauge";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import { inBackground } from "../editor/background";

/** Counting again by itself may take this long; what takes longer waits for the user. */
const cheapSeconds = 3;
/** After the last of a series of changes. */
const quietMs = 400;
/** After the first of a series that does not end. */
const patienceMs = 3_000;
/** Counting takes at most this share of the time. */
const rest = 4;

export interface LiveRecountParts {
  readonly gauge: Gauge;
  /** Whether anybody can see the result. */
  readonly isSeen: () => boolean;
  readonly now: () => number;
}

/**
 * Keeps the report up to date while that is cheap: counts again a moment after something has changed, or after another choice of
 * files was judged without counting. Where it is not cheap, or nobody looks, the report is marked stale.
 */
export class LiveRecount implements Disposable {
  private readonly store = new DisposableStore();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private firstChange = 0;
  private notBefore = 0;
  private recounting = false;
  /** Something changed that the report does not know yet. */
  private pending = false;

  constructor(private readonly parts: LiveRecountParts) {
    this.store.add(parts.gauge.onDidChange((state) => this.look(state)));
    this.store.add({ dispose: () => clearTimeout(this.timer) });
  }

  /** Something behind the report is another. */
  touched(): void {
    const { gauge } = this.parts;
    if (gauge.state.status === "idle") return;
    this.pending = true;
    if (gauge.recountSeconds > cheapSeconds) gauge.markStale();
    else this.schedule();
  }

  /** Somebody looks again. */
  seen(): void {
    if (this.pending || !this.parts.gauge.countedAsChosen) this.schedule();
  }

  dispose(): void {
    this.store.dispose();
  }

  /** A choice that was not counted yet: only sums, no seams. */
  private look(state: Gauge["state"]): void {
    if (state.status !== "ready" || this.parts.gauge.countedAsChosen) return;
    if (this.parts.gauge.recountSeconds <= cheapSeconds) this.schedule();
  }

  private schedule(): void {
    const now = this.parts.now();
    if (this.timer === undefined) this.firstChange = now;
    clearTimeout(this.timer);
    const wait = Math.min(quietMs, Math.max(0, this.firstChange + patienceMs - now));
    this.timer = setTimeout(() => inBackground(this.recount()), Math.max(wait, this.notBefore - now));
  }

  private async recount(): Promise<void> {
    this.timer = undefined;
    const { gauge, isSeen, now } = this.parts;
    if (this.recounting || gauge.recounting) {
      this.schedule();
      return;
    }
    if (!this.pending && gauge.countedAsChosen) return;
    if (!isSeen()) {
      gauge.markStale();
      return;
    }
    this.pending = false;
    this.recounting = true;
    const started = now();
    try {
      const { kind } = await gauge.recount();
      if (kind === "failed") this.pending = true;
    } finally {
      this.recounting = false;
      this.notBefore = now() + rest * (now() - started);
    }
  }
}
