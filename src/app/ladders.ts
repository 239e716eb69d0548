import path from "node:path";
import { serverCurveKey } from "../core/bench/serverCurveKey";
import { valueOf } from "../core/known";
import { readFacts, type ReadFacts } from "../core/ladder/diagnosis/diagnosisFacts";
import type { LadderPlan } from "../core/ladder/plan/plan";
import { parsePlan } from "../core/ladder/plan/parsePlan";
import { planProblem, type PlanProblem } from "../core/ladder/plan/planProblem";
import { planTextFor } from "../core/ladder/plan/planText";
import { comparisonMarkdown } from "../core/ladder/report/comparisonMarkdown";
import { compareLadders } from "../core/ladder/report/compareLadders";
import { historyOfLadder } from "../core/ladder/report/ladderHistory";
import { ladderReport } from "../core/ladder/report/ladderReport";
import { LadderWatch } from "../core/ladder/report/ladderWatch";
import { reportJson } from "../core/ladder/report/reportJson";
import { ladderMarkdown } from "../core/ladder/report/reportMarkdown";
import { shownLadder, type LadderProgress, type ShownLadder } from "../core/ladder/report/shownLadder";
import type { LadderCost } from "../core/ladder/score/feasibility";
import type { FolderTokens } from "../core/ladder/score/recommend";
import type { LadderRecord } from "../core/ladder/score/record";
import { explainLog } from "../core/logs/explainLog";
import type { Situation } from "../core/report/situation";
import { earlierOf, ladderId, LadderLibrary, type KeptLadder } from "../node/ladder/ladderLibrary";
import { logTail } from "../node/llamaServer/serverStart";
import type { AppHost } from "./host";
import { HistoryStore } from "./historyStore";
import { planHashOf, runLadder, type LadderRequest } from "./ladderRun";
import { connected } from "./runningServer";

export interface LaddersHost extends Pick<AppHost, "apiKey" | "attachedServer" | "cacheFolder" | "version"> {
  /** What is known of server, model and machine now. */
  situation(signal: AbortSignal): Promise<Situation>;
}

/** What a ladder is run from. */
export type WantedLadder =
  | {
      readonly kind: "new";
      /** Of the plan file. */
      readonly text: string;
      readonly label: string;
      readonly planFolder: string;
    }
  /** Behind the last stored run. */
  | { readonly kind: "resume"; readonly id: string };

/** Who follows a running ladder. */
export interface LadderFollower {
  /** Before the first request; a rejection ends the ladder before it began. */
  readonly onCost: (cost: LadderCost, leftSteps: number) => Promise<void>;
  readonly onChange: (progress: LadderProgress, ladder: ShownLadder | undefined) => void;
}

/** The ladders of this user: plans for the server in use, runs, and the stored ones. */
export class Ladders {
  readonly #library: LadderLibrary;

  constructor(private readonly host: LaddersHost) {
    this.#library = new LadderLibrary(path.join(host.cacheFolder, "ladders"));
  }

  /** A plan for the server in use. */
  async planText(signal: AbortSignal): Promise<string> {
    return planTextFor(connected((await this.host.situation(signal)).server).facts);
  }

  /** The first thing that is wrong with a plan. */
  checkPlan(text: string): Promise<PlanProblem | undefined> {
    return Promise.resolve(planProblem(text));
  }

  /** Newest first. */
  async kept(signal: AbortSignal): Promise<readonly ShownLadder[]> {
    const kept = await this.#library.list(signal);
    return kept.map((ladder) => shown(ladder, kept));
  }

  /** The newest ladder of exactly this plan. @throws UserError where it is none */
  async samePlan(text: string, signal: AbortSignal): Promise<ShownLadder | undefined> {
    const hash = planHashOf(parsePlan(text));
    const kept = await this.#library.list(signal);
    const found = kept.find(({ record }) => record.header.planHash === hash);
    return found && shown(found, kept);
  }

  async run(wanted: WantedLadder, follower: LadderFollower, signal: AbortSignal): Promise<ShownLadder> {
    const what = await this.#planned(wanted, signal);
    const situation = await this.host.situation(signal);
    const { facts } = connected(situation.server);
    const id = what.id ?? ladderId(planHashOf(what.plan), Date.now());
    const attached = this.host.attachedServer();
    const own = attached?.url === facts.url ? attached : undefined;
    const apiKey = own?.apiKey ?? (await this.host.apiKey(facts.url));
    const curve = valueOf(situation.curve);
    let watch = new LadderWatch(what.plan, [], curve);
    let begun: LadderRecord | undefined;
    let ladder: ShownLadder | undefined;
    const stepEnded = (): void => {
      ladder = begun && shownLadder(id, begun);
      follower.onChange(watch.progress, ladder);
    };
    const record = await runLadderAndRemember(
      {
        url: facts.url,
        plan: what.plan,
        planFolder: what.planFolder ?? process.cwd(),
        out: this.#library.folderOf(id),
        tool: `Llama Gauge ${this.host.version}`,
        now: Date.now,
        ...(apiKey !== undefined && { apiKey }),
        ...(what.label !== undefined && { label: what.label }),
        ...(own !== undefined && { logFile: own.logFile }),
        onCost: (cost, left) => follower.onCost(cost, left),
        onBegin: (record) => {
          begun = record;
          watch = new LadderWatch(what.plan, record.steps, curve);
          stepEnded();
        },
        onProgress: (step, progress) => {
          watch.read(step, progress);
          follower.onChange(watch.progress, ladder);
        },
        onStep: stepEnded,
      },
      { situation, history: new HistoryStore(this.host.cacheFolder), id },
      signal,
    );
    return shown({ id, record }, await this.#library.list(signal));
  }

  /** A stored ladder beside the earlier ones of its model. */
  async report(
    id: string,
    format: "markdown" | "json",
    folder: FolderTokens | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const kept = await this.#library.list(signal);
    const ladder = await this.#library.get(id, signal);
    const { header } = ladder.record;
    const report = ladderReport(ladder.record, earlierOf(ladder, kept), folder);
    return format === "markdown" ? ladderMarkdown(report, header, folder) : reportJson(report, header);
  }

  async compare(first: string, other: string, signal: AbortSignal): Promise<string> {
    const one = (await this.#library.get(first, signal)).record;
    const two = (await this.#library.get(other, signal)).record;
    return comparisonMarkdown(compareLadders(one, two), { first: one.header, other: two.header });
  }

  /** What server, log and history say about a long prompt. */
  async diagnosis(
    about: { readonly logText?: string; readonly promptTokens?: number },
    signal: AbortSignal,
  ): Promise<ReadFacts> {
    const situation = await this.host.situation(signal);
    const server = valueOf(situation.server)?.facts;
    const logFile = this.host.attachedServer()?.logFile;
    const text = about.logText ?? (logFile === undefined ? undefined : await logTail(logFile));
    const kept = await this.#library.list(signal);
    // of a server that is gone the newest ladder tells most
    const own =
      server === undefined
        ? kept[0]
        : kept.find(({ record }) => record.header.setup["model"] === (server.model.path ?? server.model.id));
    return readFacts({
      ...(server !== undefined && { server, launch: situation.launch }),
      ...(text !== undefined && { log: { ...explainLog(text), text } }),
      ...(own !== undefined && { ladder: own.record }),
      ...(situation.curve.known && { curve: situation.curve.value }),
      ...(about.promptTokens !== undefined && { promptTokens: about.promptTokens }),
    });
  }

  async #planned(
    wanted: WantedLadder,
    signal: AbortSignal,
  ): Promise<{
    readonly plan: LadderPlan;
    readonly id?: string;
    readonly planFolder?: string;
    readonly label?: string;
  }> {
    if (wanted.kind === "new") return { ...wanted, plan: parsePlan(wanted.text) };
    const { id, record } = await this.#library.get(wanted.id, signal);
    const { plan, planFolder, label } = record.header;
    return {
      id,
      plan,
      ...(planFolder !== undefined && { planFolder }),
      ...(label !== undefined && { label }),
    };
  }
}

/**
 * Runs a ladder on the server of the situation and writes one line of the history; its curve serves estimates where it
 * reaches deeper than what is known. `id`: of its record; absent: made from plan and time.
 */
export async function runLadderAndRemember(
  request: LadderRequest,
  {
    situation,
    history,
    id,
  }: {
    readonly situation: Pick<Situation, "server" | "launch" | "curve">;
    /** undefined: nothing is written down. */
    readonly history: HistoryStore | undefined;
    readonly id?: string;
  },
  signal: AbortSignal,
): Promise<LadderRecord> {
  const { facts } = connected(situation.server);
  const measured = valueOf(situation.curve);
  const curve = request.curve ?? measured;
  const at = request.now();
  const record = await runLadder(
    {
      ...request,
      ...(facts.role === "router" && { model: facts.model.id }),
      ...(curve !== undefined && { curve }),
    },
    signal,
  );
  const { planHash, at: begun } = record.header;
  await history?.append(
    historyOfLadder(record, {
      id: id ?? ladderId(planHash, begun),
      key: serverCurveKey(facts, situation.launch),
      at,
      seconds: (request.now() - at) / 1000,
      known: measured,
    }),
  );
  return record;
}

const shown = (ladder: KeptLadder, all: readonly KeptLadder[]): ShownLadder =>
  shownLadder(ladder.id, ladder.record, earlierOf(ladder, all));
