import type { Machine } from "../../app/machine";
import type { LiveMemory } from "../../core/memory/devices/liveMemory";
import { reportOf } from "../../core/report/gaugeState";
import type { Gauge } from "../estimate/gauge";
import { DisposableStore, Emitter, type Disposable } from "../editor/lifecycle";
import { onNewReport } from "../estimate/newReports";
import { inBackground } from "../editor/background";

export interface LatestMemorySources {
  readonly gauge: Pick<Gauge, "state" | "onDidChange">;
  readonly machine: Pick<Machine, "memory" | "watchMemory">;
  /** Whether somebody could ask for it now, and programs may be started. */
  readonly isSeen: () => boolean;
  /** Milliseconds. */
  readonly now: () => number;
}

/** A measurement so young is shown again. */
const freshMs = 30_000;

/**
 * The last measurement of this machine's memory. VS Code does not say when somebody reads a tooltip; so there is one look
 * after each estimate, one when the window is looked at again, and what the panel measures while it is seen.
 */
export class LatestMemory implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = this.store.add(new Emitter<LiveMemory>());
  private current: LiveMemory | undefined;
  private looking: AbortController | undefined;

  readonly onDidChange = this.changes.event;

  constructor(private readonly parts: LatestMemorySources) {
    this.store.add(onNewReport(parts.gauge, () => inBackground(this.look())));
    this.store.add({ dispose: () => this.looking?.abort() });
  }

  get value(): LiveMemory | undefined {
    return this.current;
  }

  /** Somebody looks again. */
  resume(): void {
    if (this.current === undefined || this.parts.now() - this.current.at >= freshMs)
      inBackground(this.look());
  }

  /** Measures until it is disposed; the last of it is kept, too. */
  watch(serverUrl: string | undefined, show: (memory: LiveMemory) => void): Promise<Disposable> {
    return this.parts.machine.watchMemory(serverUrl, (memory) => {
      this.set(memory);
      show(memory);
    });
  }

  dispose(): void {
    this.store.dispose();
  }

  private async look(): Promise<void> {
    const report = reportOf(this.parts.gauge.state);
    if (report?.memory.known !== true || !this.parts.isSeen()) return;
    this.looking?.abort();
    const controller = new AbortController();
    this.looking = controller;
    try {
      const url = report.server.known ? report.server.value.url : undefined;
      const memory = await this.parts.machine.memory(url, controller.signal);
      if (!controller.signal.aborted) this.set(memory);
    } catch {
      // nothing is shown rather than a figure that is not measured
    } finally {
      if (this.looking === controller) this.looking = undefined;
    }
  }

  private set(memory: LiveMemory): void {
    this.current = memory;
    this.changes.fire(memory);
  }
}
