import { registerCommands } from "./client/editor/commands";
import type { Gauge } from "./client/estimate/gauge";
import { ladderCommands } from "./client/ladder/ladderCommands";
import { LadderDesk, type LadderOutside, type LadderRequest } from "./client/ladder/ladderDesk";
import { LadderPlanChecks } from "./client/ladder/ladderPlanChecks";
import { DisposableStore, type Disposable } from "./client/editor/lifecycle";
import type { GaugePanel } from "./client/panel/panel";
import type { ApiKeys } from "./client/servers/apiKeys";
import type { ServerStarter } from "./client/servers/serverStarter";
import type { LadderRecord } from "./core/ladder/score/record";
import type { ShownLadder } from "./core/ladder/report/shownLadder";
import type { ConnectedServer, Situation } from "./core/report/situation";
import { UserError } from "./core/userError";
import type { KeptLadder, LadderLibrary } from "./node/ladder/ladderLibrary";
import type { Log } from "./core/log";

import path from "node:path";

/** What ladders need of the rest: who answers, what is known of it, and where things are kept. */
export interface LadderParts {
  readonly gauge: Gauge;
  readonly panel: GaugePanel;
  readonly log: Log;
  readonly keys: ApiKeys;
  readonly starter: ServerStarter;
  readonly adapters: { readonly surroundings: (signal: AbortSignal) => Promise<Situation> };
  readonly cacheFolder: string;
  readonly version: string;
}

/** Commands, plan checks and the panel's part of the ladder. */
export function startLadders(parts: LadderParts): Disposable {
  const { gauge, panel, log } = parts;
  const store = new DisposableStore();
  const desk = store.add(new LadderDesk(ladderOutside(parts)));
  store.add(new LadderPlanChecks(desk.outside.checkPlan));
  panel.follow(desk);
  store.add(registerCommands(ladderCommands({ desk, gauge, panel }), log));
  return store;
}

/** The ladder's ways to the outside; what is behind them is loaded at its first use. */
function ladderOutside(parts: LadderParts): LadderOutside {
  const { adapters, starter } = parts;
  const library = async (): Promise<LadderLibrary> => {
    const { LadderLibrary: Library } = await import("./node/ladder/ladderLibrary");
    return new Library(path.join(parts.cacheFolder, "ladders"));
  };
  return {
    planText: async (signal) => {
      const { planTextFor } = await import("./core/ladder/plan/planText");
      return planTextFor(connected(await adapters.surroundings(signal)).facts);
    },
    checkPlan: async (text) => {
      const { planProblem } = await import("./node/ladder/ladderPlanFile");
      return planProblem(text);
    },
    kept: async (signal) => {
      const kept = await (await library()).list(signal);
      return Promise.all(kept.map((ladder) => shown(ladder, kept)));
    },
    samePlan: async (text, signal) => {
      const { parsePlanText } = await import("./node/ladder/ladderPlanFile");
      const { hashOf } = await import("./app/ladderRun");
      const { planIdentity } = await import("./core/ladder/plan/plan");
      const hash = hashOf(planIdentity(parsePlanText(text)));
      const kept = await (await library()).list(signal);
      const found = kept.find(({ record }) => record.header.planHash === hash);
      return found === undefined ? undefined : shown(found, kept);
    },
    run: async (request, signal) => run(parts, await library(), request, signal),
    report: async (id, format, folder, signal) => {
      const kept = await (await library()).list(signal);
      const ladder = await (await library()).get(id, signal);
      const { earlierOf } = await import("./node/ladder/ladderLibrary");
      const { ladderReport } = await import("./core/ladder/report/ladderReport");
      const { ladderMarkdown } = await import("./core/ladder/report/reportMarkdown");
      const { reportJson } = await import("./core/ladder/report/reportJson");
      const { header } = ladder.record;
      const report = ladderReport(ladder.record, earlierOf(ladder, kept), folder);
      return format === "markdown" ? ladderMarkdown(report, header, folder) : reportJson(report, header);
    },
    compare: async (first, other, signal) => {
      const { compareLadders } = await import("./core/ladder/report/compareLadders");
      const { comparisonMarkdown } = await import("./core/ladder/report/comparisonMarkdown");
      const from = await library();
      const [one, two] = [await from.get(first, signal), await from.get(other, signal)];
      return comparisonMarkdown(compareLadders(one.record, two.record), {
        first: one.record.header,
        other: two.record.header,
      });
    },
    diagnosis: async (about, signal) => {
      const { readFacts } = await import("./core/ladder/diagnosis/diagnosisFacts");
      const { logTail } = await import("./node/llamaServer/serverStart");
      const { explainLog } = await import("./core/logs/explainLog");
      const gathered = await adapters.surroundings(signal);
      const server = gathered.server.known ? gathered.server.value.facts : undefined;
      const logFile = starter.attached?.logFile;
      const text = about.logText ?? (logFile === undefined ? undefined : await logTail(logFile));
      const kept = await (await library()).list(signal);
      // of a server that is gone the newest ladder tells most
      const own =
        server === undefined
          ? kept[0]
          : kept.find(({ record }) => record.header.setup["model"] === modelOf(server));
      return readFacts({
        ...(server !== undefined && { server, launch: gathered.launch }),
        ...(text !== undefined && { log: { ...explainLog(text), text } }),
        ...(own !== undefined && { ladder: own.record }),
        ...(gathered.curve.known && { curve: gathered.curve.value }),
        ...(about.promptTokens !== undefined && { promptTokens: about.promptTokens }),
      });
    },
  };
}

type Facts = ConnectedServer["facts"];
const modelOf = (facts: Facts | undefined): string | undefined => facts?.model.path ?? facts?.model.id;

function connected({ server }: Situation): ConnectedServer {
  if (server.known) return server.value;
  throw new UserError(server.reason ?? "refused", server.why, server.remedy);
}

async function shown(ladder: KeptLadder, all: readonly KeptLadder[]): Promise<ShownLadder> {
  const { earlierOf } = await import("./node/ladder/ladderLibrary");
  const { shownLadder } = await import("./core/ladder/report/shownLadder");
  return shownLadder(ladder.id, ladder.record, earlierOf(ladder, all));
}

async function run(
  parts: LadderParts,
  library: LadderLibrary,
  request: LadderRequest,
  signal: AbortSignal,
): Promise<ShownLadder> {
  const { parsePlanText } = await import("./node/ladder/ladderPlanFile");
  const { hashOf, runLadder } = await import("./app/ladderRun");
  const { planIdentity } = await import("./core/ladder/plan/plan");
  const { LadderWatch } = await import("./core/ladder/report/ladderWatch");
  const { shownLadder } = await import("./core/ladder/report/shownLadder");
  const former = request.kind === "goOn" ? await library.get(request.id, signal) : undefined;
  const plan = request.kind === "new" ? parsePlanText(request.text) : former?.record.header.plan;
  if (plan === undefined) throw new Error("no plan");
  const gathered = await parts.adapters.surroundings(signal);
  const { facts } = connected(gathered);
  const began = Date.now();
  const id = former?.id ?? library.newId(hashOf(planIdentity(plan)), began);
  const planFolder = request.kind === "new" ? request.planFolder : former?.record.header.planFolder;
  const label = request.kind === "new" ? request.label : former?.record.header.label;
  const { attached } = parts.starter;
  const own = attached?.url === facts.url ? attached : undefined;
  const apiKey = own?.apiKey ?? (await parts.keys.get(facts.url));
  const logFile = own?.logFile;
  const curve = gathered.curve.known ? gathered.curve.value : undefined;
  let watch = new LadderWatch(plan, [], curve);
  let begun: LadderRecord | undefined;
  let ladder: ShownLadder | undefined;
  const stepEnded = (): void => {
    ladder = begun && shownLadder(id, begun);
    request.onChange(watch.progress, ladder);
  };
  const record = await runLadder(
    {
      url: facts.url,
      plan,
      planFolder: planFolder ?? process.cwd(),
      out: library.folderOf(id),
      tool: `Llama Gauge ${parts.version}`,
      now: Date.now,
      ...(facts.role === "router" && { model: facts.model.id }),
      ...(apiKey !== undefined && { apiKey }),
      ...(label !== undefined && { label }),
      ...(curve !== undefined && { curve }),
      ...(logFile !== undefined && { logFile }),
      onCost: (cost, left) => request.onCost(cost, left),
      onBegin: (record) => {
        begun = record;
        watch = new LadderWatch(plan, record.steps, curve);
        stepEnded();
      },
      onProgress: (step, progress) => {
        watch.read(step, progress);
        request.onChange(watch.progress, ladder);
      },
      onStep: stepEnded,
    },
    signal,
  );
  await remember(parts, record, id, gathered, began);
  return shown({ id, record }, await library.list(signal));
}

/** One line of the history; its curve serves estimates where it reaches deeper than what is known. */
async function remember(
  parts: LadderParts,
  record: LadderRecord,
  id: string,
  { launch, curve, server }: Situation,
  began: number,
): Promise<void> {
  const { historyOfLadder } = await import("./core/ladder/report/ladderHistory");
  const { serverCurveKey } = await import("./core/bench/serverCurveKey");
  if (!server.known) return;
  const key = serverCurveKey(server.value.facts, launch);
  const known = curve.known ? curve.value : undefined;
  const line = historyOfLadder(record, { id, key, at: began, seconds: (Date.now() - began) / 1000, known });
  const { HistoryStore } = await import("./app/historyStore");
  await new HistoryStore(parts.cacheFolder).append(line);
}
