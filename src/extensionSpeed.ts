import { window } from "vscode";
import type { Probe } from "./client/speed/depthProbe";
import type { Gauge } from "./client/estimate/gauge";
import { registerCommands } from "./client/editor/commands";
import { DisposableStore, type Disposable } from "./client/editor/lifecycle";
import { LiveServer } from "./client/speed/liveServer";
import type { GaugePanel } from "./client/panel/panel";
import type { Outside } from "./client/commandTable";
import type { ApiKeys } from "./client/servers/apiKeys";
import type { Settings } from "./app/settings";
import type { SettingsStore } from "./client/editor/settingsStore";
import { SpeedBoard } from "./client/speed/speedBoard";
import { speedCommands } from "./client/speed/speedCommands";
import type { ComparisonSetup, SpeedOutside } from "./client/speed/speedOutside";
import { SpeedStatus } from "./client/speed/speedStatus";
import type { AgreementSample } from "./core/bench/comparison";
import type { HistoryRecord } from "./core/history/historyRecord";
import { planText } from "./core/bench/probePlan";
import { knownOr, unknown, valueOf } from "./core/known";
import { serverDefaults, type LaunchOptions } from "./core/launch/launchOptions";
import { formatText } from "./core/format";
import type { Log } from "./core/log";
import type { CurveKey } from "./core/prefill/depthCurve";
import type { Situation } from "./core/report/situation";
import { say } from "./core/text";
import { benchSetup, llamaProgram, type BenchSetup } from "./extensionBench";
import type { extensionAdapters } from "./extensionAdapters";
import type { HistoryStore } from "./app/historyStore";

export interface SpeedParts {
  readonly settings: () => Settings;
  readonly log: Log;
  /** What is known of server, model and machine now. */
  readonly gather: (signal: AbortSignal) => Promise<Situation>;
  /** The same as it was for the last estimate. */
  readonly last: () => Situation | undefined;
  readonly apiKey: (url: string) => Promise<string | undefined>;
  readonly history: () => Promise<HistoryStore>;
}

export interface SpeedDeskParts {
  readonly gauge: Gauge;
  readonly panel: GaugePanel;
  readonly settings: SettingsStore;
  readonly keys: ApiKeys;
  readonly log: Log;
  readonly adapters: ReturnType<typeof extensionAdapters>;
  readonly cacheFolder: string;
}

/** Everything about measured speed: its board, commands, status and the watch over the server. */
export function startSpeed(parts: SpeedDeskParts): Disposable & {
  /** The probes with their progress on the board, too. */
  readonly probes: Pick<Outside, "probe" | "probeOf">;
} {
  const store = new DisposableStore();
  const { gauge, panel, settings, keys, log, adapters, cacheFolder } = parts;
  const outside = speedOutside({
    log,
    settings: () => settings.value,
    gather: adapters.surroundings,
    last: adapters.lastParts,
    apiKey: (url) => keys.get(url),
    history: async () => {
      const { HistoryStore: Store } = await import("./app/historyStore");
      return new Store(cacheFolder);
    },
  });
  const board = store.add(new SpeedBoard(outside.runs));
  panel.followSpeed(board);
  store.add(new SpeedStatus(board));
  const live = store.add(
    new LiveServer({
      gauge,
      board,
      look: outside.look,
      learn: (timing) => {
        outside.learn(timing).catch((error: unknown) => log.error("A request was not written down", error));
      },
      isSeen: () => window.state.focused,
      now: Date.now,
    }),
  );
  store.add(
    window.onDidChangeWindowState(({ focused }) => {
      if (focused) live.resume();
    }),
  );
  const repeat = async (): Promise<unknown> =>
    gauge.request === undefined ? undefined : gauge.estimate(gauge.request);
  store.add(registerCommands(speedCommands({ board, panel, outside, repeat }), log));
  const onBoard =
    (probe: Probe): Probe =>
    (callbacks, signal) =>
      board.measure(say`Measuring prefill by depth`, signal, (report, its) =>
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
  return {
    probes: {
      probe: onBoard(adapters.outside.probe),
      probeOf: (target) => onBoard(adapters.outside.probeOf(target)),
    },
    dispose: () => store.dispose(),
  };
}

/** The ways to the outside of everything about speed; what is behind them is loaded at its first use. */
export function speedOutside(parts: SpeedParts): SpeedOutside {
  const setupOf = async (signal: AbortSignal): Promise<BenchSetup> =>
    benchSetup(await parts.gather(signal), parts.settings());
  return {
    runs: async (signal) => {
      const { runSummaries } = await import("./core/history/runSummary");
      const { records, newer, broken } = await (await parts.history()).read(signal);
      return { runs: runSummaries(records), unreadable: newer + broken };
    },
    comparisonSetup: async (signal) => {
      const { options } = await setupOf(signal);
      return { model: nameOf(options), values: valuesNow(options) };
    },
    comparisonPrices: async (signal) => {
      const { program, options, context, curve } = await setupOf(signal);
      const { feasibilityOf, planComparisons } = await import("./core/bench/comparisonPlan");
      const { measureFirstTokens } = await import("./node/llamaBench/llamaBenchProbe");
      const seen =
        (curve && feasibilityOf(curve)) ?? (await measureFirstTokens({ program, options }, signal));
      return planComparisons(seen, context);
    },
    compare: async (choice, report, signal) => {
      const { program, options, context, curve } = await setupOf(signal);
      const { comparisonPlanText, feasibilityOf, planComparisons } =
        await import("./core/bench/comparisonPlan");
      const { runComparison, recordOfComparison } = await import("./node/llamaBench/llamaBenchCompare");
      const seen = curve && feasibilityOf(curve);
      const plan = seen && planComparisons(seen, context).find(({ depth }) => depth === choice.depth);
      if (plan !== undefined) report.plan(comparisonPlanText(plan));
      const agreement = await agreementOf(parts, options, choice, signal);
      const request = {
        program,
        options,
        ...choice,
        timeoutSeconds: Math.max(300, 4 * (plan?.seconds ?? 3600)),
        ...(plan !== undefined && { plannedSeconds: plan.seconds }),
        ...(agreement !== undefined && { agreement }),
        unchecked: agreement === undefined && changesAnswers.has(choice.varied.option),
        onProgress: report.progress,
      };
      const found = await runComparison(request, signal);
      const record = recordOfComparison(request, found, Date.now());
      await (await parts.history()).append(record);
      if (found.run.rows.length === 0 && found.run.failure !== undefined) throw found.run.failure;
      if (record.comparison === undefined) throw new Error("a comparison without an answer");
      return record.comparison;
    },
    currentRun: (signal) => currentRun(parts, signal),
    recordBaseline: async (runId, label, signal) => {
      const { recordBaseline } = await import("./app/measurements");
      await recordBaseline(await parts.history(), runId, label, signal);
    },
    baselines: async (signal) => {
      const { records } = await (await parts.history()).read(signal);
      return records
        .flatMap(({ id, kind, label, at, curve }) =>
          kind === "baseline" && curve !== undefined ? [{ id, at, label: label ?? "", key: curve.key }] : [],
        )
        .toReversed();
    },
    besideBaseline: async (choice, signal) => {
      const { besideBaseline } = await import("./app/measurements");
      return besideBaseline(await parts.history(), choice, signal);
    },
    currentKey: async (signal) => keyOf(await parts.gather(signal), parts.settings()),
    importRuns: async (file, key, signal) => {
      const { importRuns } = await import("./app/measurements");
      const records = await importRuns(await parts.history(), file, key, signal);
      return {
        curves: records.length,
        points: records.reduce((sum, { curve }) => sum + (curve?.points.length ?? 0), 0),
      };
    },
    exportHistory: async (format, file, signal) => {
      const { exportHistory } = await import("./app/measurements");
      return exportHistory(await parts.history(), format, file, signal);
    },
    look: async (counters, signal) => {
      const facts = valueOf(parts.last()?.server ?? noServer)?.facts;
      if (facts === undefined) return undefined;
      const { lookAtServer } = await import("./node/llamaServer/slotLook");
      const { url, role, model } = facts;
      const apiKey = await parts.apiKey(url);
      return lookAtServer(
        {
          url,
          counters,
          ...(apiKey !== undefined && { apiKey }),
          ...(role === "router" && { model: model.id }),
        },
        signal,
      );
    },
    learn: async (request) => {
      const last = parts.last();
      const key = last && (await keyOf(last, parts.settings()));
      if (key === undefined) return;
      const record: HistoryRecord = {
        version: 1,
        id: crypto.randomUUID(),
        kind: "request",
        at: Date.now(),
        tool: "llama-server",
        key,
        request,
      };
      await (await parts.history()).append(record);
    },
  };
}

const noServer = unknown(say`No server is known.`, say`Estimate files or folders first.`);

/** The setup an estimate goes to as a curve's key; undefined where neither server nor model are known. */
async function keyOf(
  { server, model, launch }: Situation,
  settings: Settings,
): Promise<CurveKey | undefined> {
  const { serverCurveKey } = await import("./core/bench/serverCurveKey");
  if (server.known) return serverCurveKey(server.value.facts, launch);
  const path = settings.model === "" ? launch.model : settings.model;
  return model.known && path !== undefined ? serverCurveKey({ model: { id: path } }, launch) : undefined;
}

/** The run whose curve an estimate would use. */
async function currentRun(
  parts: SpeedParts,
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly key: CurveKey } | undefined> {
  const { origin, curve } = await parts.gather(signal);
  return origin === undefined || !curve.known ? undefined : { id: origin.id, key: curve.value.key };
}

function nameOf({ model, hfRepo }: LaunchOptions): string {
  const name = model ?? hfRepo ?? "";
  return name.split(/[\\/]/).at(-1) ?? name;
}

/** llama.cpp's defaults where nothing was given. */
function valuesNow(launch: LaunchOptions): ComparisonSetup["values"] {
  return {
    cacheTypeK: launch.cacheTypeK ?? serverDefaults.cacheType,
    cacheTypeV: launch.cacheTypeV ?? serverDefaults.cacheType,
    flashAttn: launch.flashAttn === undefined || launch.flashAttn === "auto" ? "on" : launch.flashAttn,
    ubatchSize: String(launch.ubatchSize ?? serverDefaults.ubatchSize),
    batchSize: String(launch.batchSize ?? serverDefaults.batchSize),
    threads: String(launch.threads ?? ""),
  };
}

/** Options that change what the model computes: there, speed without the same answers is worth nothing. */
const changesAnswers: ReadonlySet<string> = new Set(["cacheTypeK", "cacheTypeV", "flashAttn"]);

/** undefined where it does not matter or cannot be found out; then the answer says that it was not checked. */
async function agreementOf(
  parts: SpeedParts,
  options: LaunchOptions,
  { varied, values }: Parameters<SpeedOutside["compare"]>[0],
  signal: AbortSignal,
): Promise<AgreementSample | undefined> {
  if (!changesAnswers.has(varied.option)) return undefined;
  const { sampleAgreement } = await import("./app/agreement");
  const sample = await knownOr(
    llamaProgram(parts.settings(), "llama-server").then((program) =>
      sampleAgreement({ program, options, varied, values, timeoutSeconds: 600 }, signal),
    ),
  );
  if (!sample.known) parts.log.warn(`The answers were not compared: ${formatText(sample.why)}`);
  return valueOf(sample);
}
