import {
  comparisonDepths,
  comparisonPlanText,
  feasibilityOf,
  planComparison,
  type ComparisonPlan,
} from "../core/bench/comparisonPlan";
import { comparisonSetup, type ComparisonChoice, type ComparisonSetup } from "../core/bench/comparisonSetup";
import type { ServerActivity } from "../core/bench/serverActivity";
import { serverCurveKey } from "../core/bench/serverCurveKey";
import type { KnownRuns, MeasurementReport } from "../core/report/speedState";
import { formatText } from "../core/format";
import { recordedBaselines, type BaselineComparison, type RecordedBaseline } from "../core/history/baseline";
import type { HistoryFormat } from "../core/history/exportHistory";
import { historyVersion } from "../core/history/historyRecord";
import { runSummaries } from "../core/history/runSummary";
import type { CurveKey } from "../core/prefill/depthCurve";
import type { RequestTiming } from "../core/prefill/liveTimings";
import type { Situation } from "../core/report/situation";
import { measureFirstTokens } from "../node/llamaBench/llamaBenchProbe";
import { readServerActivity } from "../node/llamaServer/serverActivity";
import { compareAndRemember, type ComparisonFound } from "./measuring/compareSettings";
import type { AppHost } from "./host";
import { benchSetup, llamaProgram, type BenchSetup } from "./benchSetup";
import { HistoryStore } from "./historyStore";
import type { ImportAnswer } from "../core/history/assumption";
import {
  besideBaseline,
  changeAssumption,
  exportHistory,
  importQuestion,
  importRuns,
  recordBaseline,
  type ImportQuestion,
} from "./measurements";

export interface SpeedHost extends Pick<AppHost, "log" | "cacheFolder" | "settings" | "trusted" | "apiKey"> {
  /** What is known of server, model and machine now. */
  situation(signal: AbortSignal): Promise<Situation>;
  /** The same as it was for the report on show. */
  shownSituation(): Situation | undefined;
}

/** Measured speed: the history of it, comparisons of settings, baselines, and what a running server does. */
export class Speed {
  readonly #history: HistoryStore;

  constructor(private readonly host: SpeedHost) {
    this.#history = new HistoryStore(host.cacheFolder);
  }

  async runs(signal: AbortSignal): Promise<KnownRuns> {
    const { records, newer, broken } = await this.#history.read(signal);
    return { runs: runSummaries(records), unreadable: newer + broken };
  }

  /** Fails with the reason where nothing can be compared here: no llama-bench, no model, no room for a second copy. */
  async comparisonSetup(signal: AbortSignal): Promise<ComparisonSetup> {
    return comparisonSetup((await this.#bench(signal)).options);
  }

  /** What a comparison costs by depth, up to the model's window; measures the first tokens where no curve says. */
  async comparisonPrices(others: number, signal: AbortSignal): Promise<readonly ComparisonPlan[]> {
    const { program, options, window, curve } = await this.#bench(signal);
    const seen = (curve && feasibilityOf(curve)) ?? (await measureFirstTokens({ program, options }, signal));
    return comparisonDepths(window).map((depth) => planComparison(seen, [depth], others));
  }

  /** Baseline, others, baseline again; the results are in the history, also where it was cut short. */
  async compare(
    choice: ComparisonChoice,
    report: MeasurementReport,
    signal: AbortSignal,
  ): Promise<ComparisonFound> {
    const { program, options, curve } = await this.#bench(signal);
    const seen = curve && feasibilityOf(curve);
    const plan = seen && planComparison(seen, choice.depths, choice.others.length);
    if (plan !== undefined) report.plan(comparisonPlanText(plan));
    return compareAndRemember(
      {
        ...{ program, options, choice },
        server: () => llamaProgram(this.host, "llama-server"),
        ...(plan !== undefined && { plan }),
        onProgress: report.progress,
        onUnchecked: (why) => this.host.log.warn(`The answers were not compared: ${formatText(why)}`),
      },
      this.#history,
      signal,
    );
  }

  /** The run whose curve an estimate would use; undefined where there is none. */
  async currentRun(
    signal: AbortSignal,
  ): Promise<{ readonly id: string; readonly key: CurveKey } | undefined> {
    const { origin, curve } = await this.host.situation(signal);
    return origin === undefined || !curve.known ? undefined : { id: origin.id, key: curve.value.key };
  }

  async recordBaseline(runId: string, label: string, signal: AbortSignal): Promise<void> {
    await recordBaseline(this.#history, runId, label, signal);
  }

  /** Newest first. */
  async baselines(signal: AbortSignal): Promise<readonly RecordedBaseline[]> {
    return recordedBaselines((await this.#history.read(signal)).records);
  }

  async besideBaseline(
    choice: { readonly baselineId: string; readonly runId: string },
    signal: AbortSignal,
  ): Promise<BaselineComparison> {
    return besideBaseline(this.#history, choice, signal);
  }

  /** The setup of now as a key, where there is one to give to what is imported. */
  async currentKey(signal: AbortSignal): Promise<CurveKey | undefined> {
    return this.#keyOf(await this.host.situation(signal));
  }

  /** What to ask about a file before it is imported. */
  async importQuestion(file: string, setup: CurveKey, signal: AbortSignal): Promise<ImportQuestion> {
    return importQuestion(this.#history, file, setup, signal);
  }

  /** Takes an import to be of this setup, or only shows it. */
  async changeAssumption(runId: string, answer: ImportAnswer, signal: AbortSignal): Promise<void> {
    await changeAssumption(this.#history, runId, answer, signal);
  }

  /** Curves and points that were found in a file. */
  async importRuns(
    file: string,
    answer: ImportAnswer | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly curves: number; readonly points: number }> {
    const records = await importRuns(this.#history, file, answer, signal);
    return {
      curves: records.length,
      points: records.reduce((sum, { curve }) => sum + (curve?.points.length ?? 0), 0),
    };
  }

  /** How many runs were written. */
  async exportHistory(format: HistoryFormat, file: string, signal: AbortSignal): Promise<number> {
    return exportHistory(this.#history, format, file, signal);
  }

  /** What the server of the report on show does now; undefined where there is none. */
  async serverActivity(counters: boolean, signal: AbortSignal): Promise<ServerActivity | undefined> {
    const server = this.host.shownSituation()?.server;
    if (server?.known !== true) return undefined;
    const { url, role, model } = server.value.facts;
    const apiKey = await this.host.apiKey(url);
    return readServerActivity(
      {
        url,
        counters,
        ...(apiKey !== undefined && { apiKey }),
        ...(role === "router" && { model: model.id }),
      },
      signal,
    );
  }

  /** Keeps how long the server of the report on show took for a prompt of somebody else's. */
  async learn(request: RequestTiming): Promise<void> {
    const situation = this.host.shownSituation();
    const key = situation && this.#keyOf(situation);
    if (key === undefined) return;
    await this.#history.append({
      version: historyVersion,
      id: crypto.randomUUID(),
      kind: "request",
      at: Date.now(),
      tool: "llama-server",
      key,
      request,
    });
  }

  async #bench(signal: AbortSignal): Promise<BenchSetup> {
    return benchSetup(await this.host.situation(signal), this.host);
  }

  /** The setup an estimate goes to as a curve's key; undefined where neither server nor model are known. */
  #keyOf({ server, model, modelFile, launch }: Situation): CurveKey | undefined {
    if (server.known) return serverCurveKey(server.value.facts, launch);
    return model.known && modelFile.known
      ? serverCurveKey({ model: { id: modelFile.value } }, launch)
      : undefined;
  }
}
