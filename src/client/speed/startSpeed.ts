import { window } from "vscode";
import type { Estimates } from "../../app/estimates";
import type { ProbedServer } from "../../app/probe";
import type { Speed } from "../../app/speed";
import { planText } from "../../core/bench/probePlan";
import type { Log } from "../../core/log";
import { say } from "../../core/text";
import { registerCommands } from "../editor/commands";
import { DisposableStore, type Disposable } from "../editor/lifecycle";
import type { Gauge } from "../estimate/gauge";
import type { GaugePanel } from "../panel/panel";
import type { Probe } from "./depthProbe";
import { ServerWatch } from "./serverWatch";
import { SpeedMeasurements } from "./speedMeasurements";
import { speedCommands, type SpeedInCommands } from "./speedCommands";
import { SpeedStatus } from "./speedStatus";

/** The depth probes of the server an estimate goes to, and of one whose options are known. */
export interface Probes {
  readonly probe: Probe;
  readonly probeOf: (target: ProbedServer) => Probe;
}

export interface SpeedParts {
  readonly gauge: Gauge;
  readonly panel: Pick<GaugePanel, "add" | "show">;
  readonly log: Log;
  readonly speed: SpeedInCommands & Pick<Speed, "runs" | "serverActivity" | "learn">;
  readonly estimates: Pick<Estimates, "probe" | "probeServer">;
}

/** Everything about measured speed: its state, commands, status and the watch over the server. */
export function startSpeed(parts: SpeedParts): Disposable & {
  /** The probes, shown among the measurements while they run. */
  readonly probes: Probes;
  readonly measurements: SpeedMeasurements;
  readonly watch: ServerWatch;
} {
  const store = new DisposableStore();
  const { gauge, panel, log, speed, estimates } = parts;
  const measurements = store.add(new SpeedMeasurements((signal) => speed.runs(signal)));
  panel.add(measurements);
  store.add(new SpeedStatus(measurements));
  const watch = store.add(
    new ServerWatch({
      gauge,
      measurements,
      look: (counters, signal) => speed.serverActivity(counters, signal),
      learn: (timing) => {
        speed.learn(timing).catch((error: unknown) => log.error("A request was not written down", error));
      },
      isSeen: () => window.state.focused,
      now: Date.now,
    }),
  );
  store.add(
    window.onDidChangeWindowState(({ focused }) => {
      if (focused) watch.resume();
    }),
  );
  const repeat = async (): Promise<unknown> =>
    gauge.request === undefined ? undefined : gauge.estimate(gauge.request);
  store.add(registerCommands(speedCommands({ measurements, panel, speed, repeat }), log));
  return {
    measurements,
    watch,
    probes: {
      probe: shownWhileMeasuring(measurements, (callbacks, signal) => estimates.probe(callbacks, signal)),
      probeOf: (target) =>
        shownWhileMeasuring(measurements, (callbacks, signal) =>
          estimates.probeServer(target, callbacks, signal),
        ),
    },
    dispose: () => store.dispose(),
  };
}

const shownWhileMeasuring =
  (measurements: SpeedMeasurements, probe: Probe): Probe =>
  (callbacks, signal) =>
    measurements.measure(say`Measuring prefill by depth`, signal, (report, its) =>
      probe(
        {
          onPlan: (plan) => {
            report.plan(planText(plan));
            callbacks.onPlan(plan);
          },
          onProgress: (progress) => {
            report.progress(progress);
            callbacks.onProgress(progress);
          },
        },
        its,
      ),
    );
