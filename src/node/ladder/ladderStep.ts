import type { RungPrompt } from "../../core/ladder/prompt/compose";
import { checkConstraints } from "../../core/ladder/prompt/constraints";
import { completedValue, readAnswer, withoutThinking } from "../../core/ladder/score/readAnswer";
import type { LadderPlan } from "../../core/ladder/plan/plan";
import type { LadderStep, SystemFailure } from "../../core/ladder/score/record";
import { codeInvalid, invalidBecause, scoreCanaries } from "../../core/ladder/score/scoring";
import { looksLikeOutOfMemory } from "../../core/ladder/diagnosis/outOfMemory";
import type { PlannedStep } from "../../core/ladder/score/steps";
import { progressSpans, type PrefillProgress } from "../../core/prefill/liveEta";
import { AnswerFailed, type Answer, type LadderServer } from "./ladderServer";
import { watchStepMemory } from "./ladderMemory";
import type { ServerProcess } from "./ladderSetup";
import { generationSpeedOf } from "../llamaServer/completionEvents";
import { startMonitor } from "../monitor/monitor";
import { textOfRegular } from "../reading/regularFile";

export interface StepSetup {
  readonly server: LadderServer;
  readonly plan: LadderPlan;
  readonly found: ServerProcess;
  /** The template leaves the answer inside a thinking block. */
  readonly opensThinking: boolean;
  readonly timeoutSeconds: number;
  readonly lookSeconds: number;
  readonly isAlive: () => Promise<boolean>;
  readonly logFile?: string;
  readonly now: () => number;
  readonly onProgress?: (progress: PrefillProgress & { readonly cached: number }) => void;
}

const keptAnswer = 16_000;
const askedSingly = 5;
/** Six digits, each a token of its own in some vocabularies, and what ends the value. */
const lineTokens = 12;

/** One run at one length, watched, scored, and with its failure in it where the system failed. */
export async function runStep(
  planned: PlannedStep,
  rung: RungPrompt,
  setup: StepSetup,
  signal: AbortSignal,
): Promise<LadderStep> {
  const { found } = setup;
  const began = setup.now();
  const watch = found.local ? startMonitor({ intervalSeconds: setup.lookSeconds, usesCpu: true }) : undefined;
  const memory = watchStepMemory({ pid: found.pid, local: found.local }, signal);
  try {
    if (found.pid !== undefined) watch?.measure(found.pid);
    await watch?.baseline(2, signal);
    const result = await attempt(planned, rung, setup, signal);
    return {
      kind: "step",
      ...planned,
      at: began,
      seconds: (setup.now() - began) / 1000,
      sentTokens: rung.prompt.length,
      ...result,
      memory: await memory.stop(),
      monitor: (await watch?.stop()) ?? { verdict: "unmonitored", events: [], samples: 0 },
    };
  } finally {
    await watch?.stop();
    await memory.stop();
  }
}

async function attempt(
  planned: PlannedStep,
  rung: RungPrompt,
  whole: StepSetup,
  signal: AbortSignal,
): Promise<Partial<LadderStep>> {
  let done: Partial<LadderStep> = {};
  const setup = limited(whole);
  try {
    const grows = planned.run === 1 && planned.purpose !== "base" && planned.purpose !== "confirmation";
    const asksLines = setup.plan.canaries.question === "line";
    const answer = await setup.server.answer(
      {
        prompt: rung.prompt,
        answerTokens: asksLines ? lineTokens : setup.plan.answerTokens,
        useCache: grows,
        seed: planned.run,
        timeoutSeconds: setup.timeoutSeconds,
        ...(setup.onProgress !== undefined && { onProgress: setup.onProgress }),
      },
      signal,
    );
    done = measured(answer, rung);
    const recall = asksLines
      ? await completed(answer, rung, setup, signal)
      : await recalled(answer, rung, setup, signal);
    done = { ...done, ...recall };
    if (recall.invalid !== undefined || rung.constraints === undefined) return done;
    return { ...done, ...(await constrained(rung.constraints, setup, signal)) };
  } catch (cause) {
    if (!(cause instanceof AnswerFailed)) throw cause;
    return { ...done, failure: await failureOf(cause, setup) };
  }
}

/** The rung's time is that of all its answers together: each has what those before it left. */
function limited(setup: StepSetup): StepSetup {
  const end = setup.now() + setup.timeoutSeconds * 1000;
  return {
    ...setup,
    get timeoutSeconds() {
      return Math.max(0, (end - setup.now()) / 1000);
    },
  };
}

function measured({ timings, cached, progress }: Answer, rung: RungPrompt): Partial<LadderStep> {
  const { promptTokens, promptSeconds } = timings;
  const speed = generationSpeedOf(timings);
  return {
    evaluatedTokens: promptTokens + cached,
    cachedTokens: cached,
    mode: cached === 0 ? "cold" : "grown",
    prefillSeconds: promptSeconds,
    ...(promptSeconds > 0 && { prefillTokensPerSecond: promptTokens / promptSeconds }),
    ...(speed !== undefined && { generationTokensPerSecond: speed }),
    points: progressSpans({ total: rung.prompt.length, cached, progress }),
  };
}

async function recalled(
  answer: Answer,
  rung: RungPrompt,
  setup: StepSetup,
  signal: AbortSignal,
): Promise<Partial<LadderStep>> {
  const { opensThinking } = setup;
  const keys = rung.canaries.map(({ key }) => key);
  const read = readAnswer(answer.text, keys, opensThinking);
  const invalid = invalidBecause({
    sentTokens: rung.prompt.length,
    evaluatedTokens: answer.timings.promptTokens + answer.cached,
    ...answer,
    ...read,
  });
  const text = answer.text.slice(0, keptAnswer);
  const ids = answer.ids.length > 0 && { answerIds: answer.ids };
  if (invalid !== undefined) return { invalid, answer: text, ...ids };
  const singly = new Map<string, string>();
  for (const key of keys.filter((k) => !read.values.has(k)).slice(0, askedSingly)) {
    const single = await setup.server.answer(
      {
        prompt: await rung.single(key),
        answerTokens: setup.plan.answerTokens,
        useCache: true,
        seed: 1,
        timeoutSeconds: setup.timeoutSeconds,
      },
      signal,
    );
    const value = readAnswer(single.text, [key], opensThinking).values.get(key);
    if (value !== undefined) singly.set(key, value);
  }
  return {
    answer: text,
    ...ids,
    cleanFormat: read.clean,
    canaries: scoreCanaries(
      rung.canaries,
      { together: read.values, singly },
      { tokens: rung.prompt.length, values: rung.values },
    ),
  };
}

/** Every line completed on its own; the first answer, to one of them, told only the speed. */
async function completed(
  first: Answer,
  rung: RungPrompt,
  setup: StepSetup,
  signal: AbortSignal,
): Promise<Partial<LadderStep>> {
  const evaluatedTokens = first.timings.promptTokens + first.cached;
  if (evaluatedTokens !== rung.prompt.length || first.truncated) return { invalid: "promptTruncated" };
  const values = new Map<string, string>();
  for (const { key } of rung.canaries) {
    const { text } = await setup.server.answer(
      {
        prompt: await rung.single(key),
        answerTokens: lineTokens,
        useCache: true,
        seed: 1,
        timeoutSeconds: setup.timeoutSeconds,
      },
      signal,
    );
    values.set(key, completedValue(text));
  }
  return {
    answer: JSON.stringify(Object.fromEntries(values)),
    canaries: scoreCanaries(
      rung.canaries,
      { together: values, singly: new Map() },
      { tokens: rung.prompt.length, values: rung.values },
    ),
  };
}

async function constrained(
  constraints: NonNullable<RungPrompt["constraints"]>,
  setup: StepSetup,
  signal: AbortSignal,
): Promise<Partial<LadderStep>> {
  const answer = await setup.server.answer(
    {
      prompt: constraints.prompt,
      answerTokens: setup.plan.answerTokens,
      useCache: true,
      seed: 1,
      timeoutSeconds: setup.timeoutSeconds,
      logProbabilities: true,
    },
    signal,
  );
  const { text, stillThinking } = withoutThinking(answer.text, setup.opensThinking);
  const results = checkConstraints(constraints.set, text);
  const invalid = codeInvalid({ text, stillThinking, stoppedByLimit: answer.stoppedByLimit });
  return {
    constraintModule: constraints.set.module,
    constraintAnswer: answer.text.slice(0, keptAnswer),
    ...(answer.ids.length > 0 && { constraintIds: answer.ids }),
    ...(answer.logProbabilities.length > 0 && { constraintLogProbabilities: answer.logProbabilities }),
    ...(invalid === undefined
      ? {
          constraints: results.map((result) => ({
            ...result,
            position: constraints.positions.find(({ place }) => place === result.place)?.position ?? 0,
          })),
        }
      : { constraintInvalid: invalid }),
  };
}

async function failureOf(cause: AnswerFailed, setup: StepSetup): Promise<SystemFailure> {
  const log = setup.logFile === undefined ? undefined : await lastLines(setup.logFile);
  const outOfMemory = looksLikeOutOfMemory([cause.message, ...(log ?? [])]);
  const kind = (): SystemFailure["kind"] => {
    if (cause.failure === "timeout") return "timeLimit";
    if (cause.failure === "tooLong" || /context size has been exceeded/i.test(cause.message))
      return "contextTooSmall";
    if (outOfMemory) return "outOfMemory";
    return cause.failure === "died" ? "serverDied" : "serverError";
  };
  const alive = cause.failure === "died" && (await setup.isAlive());
  return {
    kind: alive && kind() === "serverDied" ? "serverError" : kind(),
    message: cause.message,
    ...(cause.atTokens !== undefined && { atTokens: cause.atTokens }),
    ...(log !== undefined && { log }),
  };
}

const tailBytes = 64 * 1024;
const tailLines = 30;

/** The end of the server's log, where the user named it. */
async function lastLines(file: string): Promise<readonly string[] | undefined> {
  try {
    const text = await textOfRegular(file, { most: tailBytes, part: "end" });
    return text.split("\n").filter(Boolean).slice(-tailLines);
  } catch {
    return undefined;
  }
}
