import { formatNumber, formatSeconds, formatText } from "../core/format";
import { forecastOf, type Forecast } from "../core/conversation/forecast";
import type { Ledger } from "../core/conversation/ledger";
import { logCurves } from "../core/conversation/logCurve";
import { rereadText } from "../core/conversation/causeText";
import type { PlannedTurn } from "../core/conversation/plan";
import type { RequestRecord } from "../core/conversation/requestRecord";
import { count, say } from "../core/text";
import { UserError } from "../core/userError";
import { readCurveFile } from "../app/measurements";
import { setupKey } from "../app/situation";
import { namedCurve } from "../core/history/namedCurve";
import { conversationPlan } from "../app/conversation/conversationPlan";
import { ServerLog } from "../app/logs/serverLogs";
import { wholeNumber } from "./arguments";
import type { CliCommand, CliContext } from "./command";
import { launchedModel } from "./memory";
import { exitCode, printError, printJson, printLines, table } from "./output";

interface ConversationOptions {
  readonly log?: string;
  readonly system: number;
  readonly turn?: number;
  readonly answer: number;
  readonly thinking: number;
  readonly turns: number;
  readonly agents: number;
  readonly curve?: string;
  readonly anyCurve?: true;
  readonly json?: true;
}

/** Turns nobody will have; a plan of so many is still quick. */
const mostTurns = 10_000;

export const addConversation: CliCommand = (program, context) => {
  program
    .command("conversation")
    .description(
      "what the requests in a llama-server log cost; or, with the arguments after --, fill and wait of each turn of a conversation to come",
    )
    .option("--log <file>", "log of a llama-server")
    .option("--system <n>", "tokens of the system prompt, with tools", wholeNumber, 0)
    .option("--turn <n>", "tokens that each turn adds, tool results included", wholeNumber)
    .option("--answer <n>", "tokens of each answer", wholeNumber, 0)
    .option("--thinking <n>", "of each answer, tokens that the client does not send back", wholeNumber, 0)
    .option("--turns <n>", "turns to plan at most", wholeNumber, 100)
    .option("--agents <n>", "conversations that take turns on the server", wholeNumber, 1)
    .option("--curve <file>", "measured speed, for the wait")
    .option("--any-curve", "predict also from a curve of another setup")
    .option("--json", "one JSON document on stdout")
    .action((options: ConversationOptions) =>
      options.log === undefined ? plan(options, context) : ledger(options.log, options, context),
    );
};

async function ledger(file: string, { json }: ConversationOptions, { signal }: CliContext): Promise<void> {
  const { ledger: found, writtenAt } = await new ServerLog(file).readWhole(signal);
  const forecast = forecastOf(found, logCurves(found).at(-1));
  if (json) {
    const { servers, ...rest } = found;
    printJson({
      writtenAt: new Date(writtenAt).toISOString(),
      ...rest,
      servers: servers.map(({ facts, ...server }) => ({
        ...server,
        ...(facts.model?.path !== undefined && { model: facts.model.path }),
        ...(facts.build !== undefined && { build: facts.build }),
      })),
      ...(forecast !== undefined && { forecast }),
    });
    return;
  }
  if (found.requests.length === 0 && found.running.length === 0) {
    throw new UserError(
      "invalidInput",
      found.unknown.lines > 0
        ? say`${file} is worded in a way this version does not know: ${found.unknown.example ?? ""}`
        : say`${file} contains no requests of a llama-server.`,
      say`Specify the log of a llama-server that has answered requests.`,
    );
  }
  printLines(ledgerLines(found, forecast));
}

/** Requests that are printed; --json has all that are kept. */
const printed = 100;

function ledgerLines(found: Ledger, forecast: Forecast | undefined): string[] {
  const { requests, earlier, running, unknown } = found;
  const shown = requests.slice(-printed);
  const number = (value: number | undefined): string => (value === undefined ? "" : formatNumber(value));
  const time = (value: number | undefined): string => (value === undefined ? "" : formatSeconds(value));
  const left = earlier + requests.length - shown.length;
  return [
    ...(left > 0 ? [`${formatNumber(left)} earlier requests`] : []),
    ...table([
      ["#", "slot", "prompt", "cached", "again", "new", "wait", "t/s", "answer", "t/s", "fill", "limit", ""],
      ...shown.map((request) => [
        String(request.number),
        String(request.slot),
        ...[request.promptTokens, request.cachedTokens, request.againTokens, request.newTokens].map(number),
        time(request.prefillSeconds),
        number(rate(request.readTokens, request.prefillSeconds)),
        number(request.generatedTokens),
        number(rate(request.generatedTokens, request.generationSeconds)),
        number(request.fillTokens),
        number(request.limit),
        request.outcome === "done" ? (request.reread?.kind ?? "") : request.outcome,
      ]),
    ]),
    ...causeLines(shown),
    ...running.map(({ slot, stage, cachedTokens = 0, progress, promptTokens }) => {
      const read = cachedTokens + (progress.at(-1)?.tokens ?? 0);
      const of = promptTokens === undefined ? "" : ` of ${range(promptTokens)}`;
      return `slot ${slot} is ${stage}: ${formatNumber(read)}${of} tokens`;
    }),
    ...forecastLines(forecast),
    ...(unknown.lines === 0
      ? []
      : [
          `${formatNumber(unknown.lines)} lines are worded in a way this version does not know, for example: ${unknown.example ?? ""}`,
        ]),
  ];
}

const range = ({ low, high }: { readonly low: number; readonly high: number }): string =>
  low === high ? formatNumber(low) : `${formatNumber(low)} – ${formatNumber(high)}`;

const rate = (tokens: number | undefined, seconds: number | undefined): number | undefined =>
  tokens === undefined || seconds === undefined || seconds <= 0 ? undefined : tokens / seconds;

function causeLines(requests: readonly RequestRecord[]): string[] {
  return requests.flatMap(({ number, reread }) => {
    if (reread === undefined) return [];
    const { what, cause, remedy } = rereadText(reread);
    return [`${number}: ${formatText(what)} ${formatText(cause)}`, `  → ${formatText(remedy)}`];
  });
}

function forecastLines(forecast: Forecast | undefined): string[] {
  if (forecast === undefined) return [];
  const { turns, fillTokens, limit, turnsLeft, nextWait } = forecast;
  const full = limit === undefined ? "" : ` of ${formatNumber(limit)}`;
  return [
    `turn ${turns}: ${formatNumber(fillTokens)}${full} tokens`,
    ...(turnsLeft === undefined
      ? []
      : [
          `about ${formatNumber(turnsLeft.middle)} more turns of this size until it is refused (80 % between ${formatNumber(turnsLeft.low)} and ${formatNumber(turnsLeft.high)})`,
        ]),
    ...(nextWait?.known === true
      ? [
          `turn ${turns + 1} will wait ≈ ${formatSeconds(nextWait.seconds)} (80 % between ${formatSeconds(nextWait.lowSeconds)} and ${formatSeconds(nextWait.highSeconds)})`,
        ]
      : []),
  ];
}

async function plan(options: ConversationOptions, context: CliContext): Promise<void> {
  const { turn, answer, thinking, turns, agents } = options;
  if (turn === undefined || turn === 0) {
    throw new UserError(
      "invalidInput",
      say`The size of a turn is not specified.`,
      say`Specify --turn TOKENS to plan a conversation, or --log FILE to read one.`,
    );
  }
  if (thinking > answer || turns < 1 || turns > mostTurns || agents < 1) {
    throw new UserError(
      "invalidInput",
      thinking > answer
        ? say`The thinking is part of the answer and cannot be longer.`
        : say`From 1 to ${count(mostTurns)} turns and at least 1 agent can be planned.`,
      say`Change --answer, --thinking, --turns or --agents.`,
    );
  }
  const setup = await launchedModel(context);
  const named =
    options.curve === undefined
      ? undefined
      : namedCurve(
          await readCurveFile(options.curve, context.signal),
          setupKey({ facts: undefined, launch: setup.launch, file: setup.path }),
          { any: options.anyCurve === true, now: Date.now() },
        );
  const notes =
    named === undefined
      ? []
      : named.curve.known
        ? named.notes
        : [say`${named.curve.why} ${named.curve.remedy}`];
  for (const note of notes) printError(formatText(note));
  const curve = named?.curve.known === true ? named.curve.value : undefined;
  // the plan without its wait is printed, but it is not what was asked for
  if (named !== undefined && curve === undefined) context.finish(exitCode.noFigure);
  const { context: slot, ...planned } = await conversationPlan(
    {
      ...{
        systemTokens: options.system,
        turnTokens: turn,
        answerTokens: answer,
        thinkingTokens: thinking,
        turns,
      },
      ...(curve !== undefined && { curve }),
    },
    { ...setup, agents },
    context.signal,
  );
  if (options.json) {
    printJson(planned);
    return;
  }
  const { refusedAtTurn, totalSeconds, lost, reason } = planned;
  printLines([
    `${formatText(say`${count(slot.slots)} slot[s] of ${count(slot.nCtxPerSlot)}`)} tokens${slot.fitMayReduce ? "; without -c, -fit may leave less" : ""}`,
    ...table([
      ["turn", "prompt", "cached", "read", "wait", "80 %", "answer", ""],
      ...planned.turns.map(turnRow),
    ]),
    refusedAtTurn === null
      ? `all ${formatNumber(planned.turns.length)} turns are accepted`
      : `turn ${formatNumber(refusedAtTurn)} is refused`,
    ...(totalSeconds === undefined ? [] : [`in all ≈ ${formatSeconds(totalSeconds)}`]),
    ...(lost === undefined
      ? []
      : [
          `if the cache is lost before turn ${formatNumber(lost.turn)}, ${formatNumber(lost.readTokens)} tokens are read again${lost.extraSeconds === undefined ? "" : `: ≈ ${formatSeconds(lost.extraSeconds)} more`}`,
        ]),
    ...(reason === undefined ? [] : [formatText(reason)]),
  ]);
}

function turnRow(turn: PlannedTurn): readonly string[] {
  const { waitSeconds, lowSeconds, highSeconds, answerSeconds } = turn;
  return [
    String(turn.turn),
    ...[turn.promptTokens, turn.cachedTokens, turn.readTokens].map((tokens) => formatNumber(tokens)),
    waitSeconds === undefined ? "" : formatSeconds(waitSeconds),
    lowSeconds === undefined || highSeconds === undefined
      ? ""
      : `${formatSeconds(lowSeconds)} – ${formatSeconds(highSeconds)}`,
    answerSeconds === undefined ? "" : formatSeconds(answerSeconds),
    turn.accepted ? "" : "refused",
  ];
}
