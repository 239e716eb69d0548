import { changesAnswers } from "../core/bench/comparisonArms";
import type { AgreementSample, ComparisonResult } from "../core/bench/comparison";
import {
  comparisonPlanText,
  feasibilityOf,
  planComparisons,
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
import { knownOr, valueOf } from "../core/known";
import type { LaunchOptions } from "../core/launch/launchOptions";
import type { CurveKey } from "../core/prefill/depthCurve";
import type { RequestTiming } from "../core/prefill/liveTimings";
import type { Situation } from "../core/report/situation";
import { recordOfComparison, runComparison } from "../node/llamaBench/llamaBenchCompare";
import { measureFirstTokens } from "../node/llamaBench/llamaBenchProbe";
import { readServerActivity } from "../node/llamaServer/serverActivity";
import { sampleAgreement } from "./measuring/sampleAgreement";
import type { AppHost } from "./host";
import { benchSetup, llamaProgram, type BenchSetup } from "./benchSetup";
import { HistoryStore } from "./historyStore";
import { besideBaseline, exportHistory, importRuns, recordBaseline } from "./measurements";

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

  /** What a comparison costs by depth; measures the first tokens where no curve says. */
  async comparisonPrices(signal: AbortSignal): Promise<readonly ComparisonPlan[]> {
    const { program, options, context, curve } = await this.#bench(signal);
    const seen = (curve && feasibilityOf(curve)) ?? (await measureFirstTokens({ program, options }, signal));
    return planComparisons(seen, context);
  }

  /** Baseline, other value, baseline again; the result is in the history, also where it was cut short. */
  async compare(
    choice: ComparisonChoice,
    report: MeasurementReport,
    signal: AbortSignal,
  ): Promise<ComparisonResult> {
    const { program, options, context, curve } = await this.#bench(signal);
    const seen = curve && feasibilityOf(curve);
    const plan = seen && planComparisons(seen, context).find(({ depth }) => depth === choice.depth);
    if (plan !== undefined) report.plan(comparisonPlanText(plan));
    const agreement = await this.#agreement(options, choice, signal);
    const request = {
      program,
      options,
      ...choice,
      timeoutSeconds: Math.max(300, 4 * (plan?.seconds ?? 3600)),
      ...(plan !== undefined && { plannedSeconds: plan.seconds }),
      ...(agreement !== undefined && { agreement }),
      unchecked: agreement === undefined && changesAnswers(choice.varied),
      onProgress: report.progress,
    };
    const found = await runComparison(request, signal);
    const record = recordOfComparison(request, found, Date.now());
    await this.#history.append(record);
    if (found.run.rows.length === 0 && found.run.failure !== undefined) throw found.run.failure;
    if (record.comparison === undefined) throw new Error("a comparison without an answer");
    return record.comparison;
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

  /** Curves and points that were found in a file. */
  async importRuns(
    file: string,
    key: CurveKey | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly curves: number; readonly points: number }> {
    const records = await importRuns(this.#history, file, key, signal);
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

  /** undefined where it does not matter or cannot be found out; then the answer says that it was not checked. */
  async #agreement(
    options: LaunchOptions,
    { varied, values }: ComparisonChoice,
    signal: AbortSignal,
  ): Promise<AgreementSample | undefined> {
    if (!changesAnswers(varied)) return undefined;
    const sample = await knownOr(
      llamaProgram(this.host, "llama-server").then((program) =>
        sampleAgreement({ program, options, varied, values, timeoutSeconds: 600 }, signal),
      ),
    );
    if (!sample.known) this.host.log.warn(`The answers were not compared: ${formatText(sample.why)}`);
    return valueOf(sample);
  }
}
