import os from "node:os";
import type { ServerFacts } from "../../core/acceptance/serverFacts";
import { judgeDrift } from "../../core/bench/drift";
import { probeCurve, sessionSpreadOf, unwatchedSpread } from "../../core/bench/probeCurve";
import {
  askedDepths,
  deepestIn,
  planStream,
  priceStream,
  refuseDear,
  refuseTooDeep,
  relativeGrowth,
  type Feasibility,
  type StreamPlan,
} from "../../core/bench/probePlan";
import type { ProbeEnd, ProbeProgress, ProbeReport } from "../../core/bench/probeReport";
import { costSteps } from "../../core/bench/costSteps";
import type { CurveKey, CurvePoint, DepthCurve, GenerationPoint } from "../../core/prefill/depthCurve";
import { progressSpans, remainingPrefill } from "../../core/prefill/liveEta";
import { isLocal, portOf } from "../../core/servers/serverAddress";
import { count, say } from "../../core/text";
import type { Text } from "../../core/text";
import { UserError } from "../../core/userError";
import { HttpLlamaServer } from "../../node/llamaServer/llamaServer";
import { LlamaServerConnection } from "../../node/llamaServer/llamaServerConnection";
import { startMonitor } from "../../node/monitor/monitor";
import type { Monitor } from "../../node/monitor/monitor";
import { listeningProcess } from "../../node/monitor/monitorLinux";
import { streamCompletion, type StreamedAnswer } from "../../node/llamaServer/serverProbeStream";
import { generationSpeedOf, type CompletionTimings } from "../../node/llamaServer/completionEvents";
import { append, largest, smallest } from "../../core/lists";
import { TimeLimitError } from "../../node/waiting/within";
import { baselineSamples, TimeBudget } from "../../node/waiting/timeBudget";
import { withLimit } from "../../node/waiting/withLimit";
import { ProbeText } from "./probeText";
import { closedEarly, gone, refuseBusy, refuseImpossible, tooSlow } from "./serverProbeErrors";

export interface ServerProbeRequest {
  readonly url: string;
  readonly apiKey?: string;
  /** Which of a router's models. */
  readonly model?: string;
  readonly budgetSeconds?: number;
  /** Deepest position to probe; the slot's context by default. */
  readonly maxDepth?: number;
  /** Depths to measure, instead of as deep as the budget allows: all of them, or it fails before the long part. */
  readonly depths?: readonly number[];
  /** The server's settings that change speed (`speedFlags`), where they are known: the curve's key. */
  readonly flags?: string;
  /** Called before the long part starts, with what it will cost. */
  readonly onPlan?: (plan: StreamPlan) => void;
  readonly onProgress?: (progress: ProbeProgress) => void;
  /** What has been measured so far, every few seconds: it outlives whoever asks for it. */
  readonly onMeasured?: (curve: DepthCurve) => void;
  /** The watch over the machine; by default one of its own where the server is on this machine. */
  readonly monitor?: Monitor;
}

const feasibilityTokens = 2048;
const warmUpTokens = 64;
/** At the short prompts; a step each but the first. */
const firstGenerated = 16;
/** Between two reports of what has been measured. */
const tellSeconds = 3;
/** Between two reports of progress, in seconds: a server decides how many events it sends. */
const progressSeconds = 0.2;
/** The second of the short prompts may take this part of what is left of the budget, by what the first took. */
const headShare = 0.3;
/** The repeat of the feasibility run may take this part of the budget. */
const driftShare = 0.15;
/** The repeat may take so many times what the first took: a machine that got slower than that is told by its absence. */
const repeatPatience = 4;
/** Depths that were asked for may take so many times the budget where their price was too low. */
const askedPatience = 1.1;
/** Part of the budget that generation may take after the time for reading is over. */
const lateShare = 0.08;
/** Part of the budget that the last look at the server may take. */
const closingShare = 0.05;

/** Seconds: a request whose time is over is ended, not sent without a limit. */
const leastWait = 0.05;

/** One request of the probe. */
interface Reading {
  readonly salt: readonly number[];
  readonly tokens: number;
  readonly generatedTokens: number;
  readonly timeoutSeconds: number;
  /** Tokens of this prompt that the server has read for the probe before; 0: a cold one. */
  readonly known?: number;
  /** Tokens of the whole plan, while it is carried out. */
  readonly planned?: number;
}

/**
 * Measures speed by depth on the running server: one long prompt, every batch a point, with a few stops to generate. It
 * ends when the budget is used up. Fails with `UserError` when the server is busy or nothing was measured.
 */
export async function runServerProbe(request: ServerProbeRequest, signal: AbortSignal): Promise<ProbeReport> {
  const probe = new ServerProbe(request, signal);
  try {
    return await probe.run();
  } finally {
    await probe.close();
  }
}

class ServerProbe {
  readonly #server: HttpLlamaServer;
  readonly #connection: LlamaServerConnection;
  readonly #time: TimeBudget;
  readonly #monitor: Monitor | undefined;
  readonly #text: ProbeText;
  readonly #points: CurvePoint[] = [];
  readonly #generation: GenerationPoint[] = [];
  readonly #overheads: number[] = [];
  readonly #warnings: Text[] = [];
  #told = 0;
  #facts: ServerFacts | undefined;

  constructor(
    private readonly request: ServerProbeRequest,
    private readonly signal: AbortSignal,
  ) {
    this.#server = new HttpLlamaServer(request);
    this.#connection = new LlamaServerConnection(this.#server.url, request.apiKey);
    this.#time = new TimeBudget(request.budgetSeconds ?? 60);
    const { model } = request;
    const asked = { url: this.#server.url, ...(model !== undefined && { model }) };
    this.#text = new ProbeText(this.#connection, asked, signal);
    const local = isLocal(this.#server.url);
    this.#monitor =
      request.monitor ?? (local ? startMonitor({ intervalSeconds: 1, usesCpu: true }) : undefined);
  }

  async close(): Promise<void> {
    await this.#monitor?.stop();
  }

  async run(): Promise<ProbeReport> {
    const facts = await this.#server.facts(this.signal);
    refuseBusy(facts, this.#server.url);
    this.#facts = facts;
    const { depths } = this.request;
    if (depths !== undefined) refuseTooDeep(depths, facts.nCtxPerSlot);
    const budget = this.#time.seconds;
    await this.#watch(budget);
    this.#progress("feasibility", budget, 0);
    const deepest = Math.min(this.request.maxDepth ?? Infinity, deepestIn(facts.nCtxPerSlot));
    const [short, first] = await this.#firstTokens(deepest);
    const { tokens: head, seconds: firstSeconds } = spanOf(first);
    const repeats = firstSeconds <= driftShare * budget;
    const reserved = repeats ? firstSeconds : 0;
    const seen = feasibilityOf(short, first);
    const plan = this.#planOf(seen, { left: this.#time.left - reserved, deepest });
    this.#keep(short);
    if (first !== short) this.#keep(first);
    this.#tellMeasured([]);
    if (plan === undefined) {
      const enough = depths !== undefined;
      if (!enough) {
        // No time or no room for more: two short prompts are little, but they are measured.
        this.#warnings.push(
          say`Only the first ${count(head)} token[s] [was|were] measured; more time would show more.`,
        );
      }
      const measured = { tokens: head, seconds: this.#time.spent };
      return this.#report(measured, enough ? "finished" : "budget", undefined);
    }
    this.request.onPlan?.(plan);
    const over = await this.#read(plan, (depths === undefined ? 1 : askedPatience) * budget - reserved);
    const drift = repeats ? await this.#repeat(spanOf(first), over) : undefined;
    await this.#sameServer(facts);
    this.#progress("closing", 1, plan.tokens);
    return this.#report(plan, over, drift);
  }

  async #watch(budgetSeconds: number): Promise<void> {
    if (this.#monitor === undefined) return;
    const pid = process.platform === "linux" ? listeningProcess(portOf(this.#server.url)) : undefined;
    if (pid !== undefined) this.#monitor.measure(pid);
    await this.#monitor.baseline(baselineSamples(budgetSeconds), this.signal);
  }

  /** Two cold prompts, the second four times the first; the same one twice where there is no time for it. */
  async #firstTokens(deepest: number): Promise<readonly [TimedAnswer, TimedAnswer]> {
    const asked = largest(this.request.depths ?? [], 0);
    const most = Math.min(feasibilityTokens, deepest, asked > 0 ? Math.max(256, asked) : Infinity);
    const head = Math.floor(most / 4) * 4;
    await this.#cold(warmUpTokens, 1);
    const short = await this.#cold(head / 4, firstGenerated);
    const expected = 4 * 1.2 * spanOf(short).seconds;
    if (expected > headShare * this.#time.left) return [short, short];
    return [short, await this.#cold(head, firstGenerated)];
  }

  /** A prompt of its own, read to its end. */
  async #cold(tokens: number, generatedTokens: number): Promise<TimedAnswer> {
    const timeoutSeconds = this.#time.untilEnd;
    const answer = await this.#stream({
      salt: await this.#text.salt(),
      ...{ tokens, generatedTokens, timeoutSeconds },
    });
    const { timings } = answer;
    if (timings === undefined) throw this.#unfinished(answer);
    if (tokens > warmUpTokens) refuseImpossible(timings);
    return { ...answer, timings, tokens };
  }

  #planOf(
    seen: Feasibility,
    { left, deepest }: { readonly left: number; readonly deepest: number },
  ): StreamPlan | undefined {
    const { depths } = this.request;
    if (depths === undefined) return planStream(seen, { budgetSeconds: left, maxDepth: deepest });
    const stops = askedDepths(depths).filter((depth) => depth > 0);
    if (stops.length === 0) return undefined;
    const plan = priceStream(seen, stops, left);
    refuseDear(plan, { budgetSeconds: this.#time.seconds, left });
    return plan;
  }

  /** The long prompt, from stop to stop, until `deadline` (seconds since the probe began). */
  async #read({ tokens, stops, generatedTokens }: StreamPlan, deadline: number): Promise<ProbeEnd> {
    const salt = await this.#text.salt();
    let rest = [...stops];
    let known = 0;
    for (let stop = rest.shift(); stop !== undefined; stop = rest.shift()) {
      const reading = { salt, tokens: stop, generatedTokens, known, planned: tokens };
      const timeoutSeconds = deadline - this.#time.spent;
      const answer = await this.#stream({ ...reading, timeoutSeconds }).catch((error: unknown) =>
        this.#lost(error),
      );
      if (answer === undefined) return "failed";
      this.#keep({ ...answer, tokens: stop });
      const over = this.#endOf(answer);
      if (over === "budget") {
        const reached = answer.progress.at(-1)?.processed ?? known;
        if (this.request.depths !== undefined) {
          this.#warnings.push(
            say`The time was over at ${count(reached)} of ${count(tokens)} token[s]: they took longer than the first ones let expect.`,
          );
        }
        if (reached > known) await this.#generateAt({ salt, tokens: reached, generatedTokens });
      }
      if (over !== "finished") return over;
      if (answer.cached < known / 2 && rest.length > 0) {
        rest = rest.slice(-1);
        this.#warnings.push(
          say`This server reads a prompt again after every stop, so generation was measured at few depths.`,
        );
      }
      known = stop;
    }
    return "finished";
  }

  /** Generation where the time was over: what was read until then is still in the server's cache. */
  async #generateAt(reached: Pick<Reading, "salt" | "tokens" | "generatedTokens">): Promise<void> {
    const timeoutSeconds = Math.min(lateShare * this.#time.seconds, this.#time.untilEnd);
    if (timeoutSeconds <= 0) return;
    const reading = { ...reached, known: reached.tokens, timeoutSeconds };
    const { cached, timings } =
      (await this.#stream(reading).catch((error: unknown) => this.#lost(error))) ?? {};
    const speed = timings && cached !== undefined && cached > 0 ? generationSpeedOf(timings) : undefined;
    if (speed !== undefined) this.#generation.push({ depth: reached.tokens, tokensPerSecond: speed });
  }

  /** The first prompt once more: if that moved, the machine did. Undefined where there was no time for it. */
  async #repeat(
    first: { readonly tokens: number; readonly seconds: number },
    over: ProbeEnd,
  ): Promise<ProbeReport["drift"]> {
    if ((over !== "finished" && over !== "budget") || this.#time.untilEnd < first.seconds) return undefined;
    const again = await this.#stream({
      salt: await this.#text.salt(),
      tokens: first.tokens,
      generatedTokens: 1,
      timeoutSeconds: Math.min(this.#time.untilEnd, repeatPatience * first.seconds),
    });
    const seconds = again.timings?.promptSeconds;
    return seconds === undefined ? undefined : judgeDrift(first.seconds, seconds, "prefill");
  }

  async #stream(reading: Reading): Promise<StreamedAnswer> {
    const { salt, tokens, generatedTokens, timeoutSeconds, known = 0, planned } = reading;
    const prompt = await this.#text.prompt(salt, tokens);
    const ends = this.#time.spent + timeoutSeconds;
    const events: { processed: number; seconds: number }[] = [];
    let shown = 0;
    const answer = await streamCompletion(
      this.#connection,
      {
        ...(this.request.model !== undefined && { model: this.request.model }),
        ...{ prompt, generatedTokens, timeoutSeconds: Math.max(leastWait, timeoutSeconds) },
        ...(known > 0 && { cache: true }),
        onProgress: (step) => {
          events.push(step);
          const now = this.#time.spent;
          if (planned === undefined || now - shown < progressSeconds) return;
          shown = now;
          const { cached } = step;
          if (now - this.#told >= tellSeconds) {
            this.#tellMeasured(progressSpans({ total: tokens, cached, progress: events }));
          }
          const eta = remainingPrefill({ total: planned, cached, progress: events });
          const left = Math.min(eta.known ? eta.seconds : Infinity, ends - now);
          this.#progress("measuring", Math.max(0, left), step.processed);
        },
      },
      this.signal,
    );
    // generated tokens may be the next ones of the prompt by chance
    if (answer.cached > (known > 0 ? known + generatedTokens : 0)) {
      throw new UserError(
        "badOutput",
        say`The server took ${count(answer.cached)} token[s] of the probe from its cache although it was told not to.`,
        say`Probe without --cache-reuse, or with llama-bench.`,
      );
    }
    if (answer.timings !== undefined && tokens > warmUpTokens && known === 0) {
      this.#overheads.push(Math.max(0, answer.wallSeconds - answer.timings.promptSeconds));
    }
    return answer;
  }

  #keep({ progress, timings, cached, tokens }: StreamedAnswer & { readonly tokens: number }): void {
    append(this.#points, progressSpans({ total: tokens, cached, progress }));
    const speed = timings && generationSpeedOf(timings);
    if (speed !== undefined) this.#generation.push({ depth: tokens, tokensPerSecond: speed });
  }

  /** A server that is gone before it said a word: what was measured before still stands. */
  #lost(error: unknown): undefined {
    const lost =
      error instanceof UserError && (error.reason === "refused" || error.reason === "outsideFailed");
    if (!lost) throw error;
    this.#warnings.push(error.problem);
  }

  /**
   * A server that was restarted or changed its model in between has measured two different things. One that does not
   * answer in time is still busy with what it was told to stop.
   */
  async #sameServer(before: ServerFacts): Promise<void> {
    if (this.signal.aborted) return;
    const limit = Math.max(closingShare * this.#time.seconds, this.#time.untilEnd);
    const after = await withLimit(this.signal, limit * 1000, (limited) => this.#server.facts(limited)).catch(
      (error: unknown) => (error instanceof TimeLimitError ? before : undefined),
    );
    if (after === undefined) {
      this.#warnings.push(say`The server disappeared during the probe.`);
      return;
    }
    const changed =
      after.build !== before.build ||
      after.model.id !== before.model.id ||
      after.model.path !== before.model.path ||
      after.nCtxPerSlot !== before.nCtxPerSlot;
    if (changed) throw gone(this.#server.url);
  }

  #endOf(main: StreamedAnswer): ProbeEnd {
    if (this.signal.aborted) return "cancelled";
    if (main.ended === "aborted") return "budget";
    return main.ended === "finished" ? "finished" : "failed";
  }

  #unfinished(answer: StreamedAnswer): Error {
    this.signal.throwIfAborted();
    return answer.ended === "aborted" ? tooSlow(this.#time.seconds) : closedEarly(this.#server.url);
  }

  async #report(
    plan: Pick<StreamPlan, "tokens" | "seconds">,
    ended: ProbeEnd,
    drift: ProbeReport["drift"],
  ): Promise<ProbeReport> {
    const monitor = (await this.#monitor?.stop()) ?? { verdict: "unmonitored", events: [], samples: 0 };
    const overheadSeconds = smallest(this.#overheads);
    return {
      curve: probeCurve(
        this.#key(),
        {
          points: this.#points,
          generation: this.#generation,
          ...(Number.isFinite(overheadSeconds) && { overheadSeconds }),
        },
        sessionSpreadOf(monitor, drift),
      ),
      plannedSeconds: plan.seconds,
      plannedTokens: plan.tokens,
      seconds: this.#time.spent,
      ended,
      monitor,
      ...(drift !== undefined && { drift }),
      steps: costSteps(this.#points),
      warnings: this.#warnings,
    };
  }

  #key(): CurveKey {
    const [cpu] = os.cpus();
    return {
      model: this.#facts?.model.path ?? this.#facts?.model.id ?? "",
      build: this.#facts?.build ?? "",
      flags: this.request.flags ?? "",
      ...(this.#monitor !== undefined && cpu !== undefined && { hardware: cpu.model.trim() }),
    };
  }

  #tellMeasured(under: readonly CurvePoint[]): void {
    this.#told = this.#time.spent;
    const measured = { points: [...this.#points, ...under], generation: this.#generation };
    this.request.onMeasured?.(probeCurve(this.#key(), measured, unwatchedSpread));
  }

  #progress(phase: ProbeProgress["phase"], remainingSeconds: number, depth: number): void {
    const done = this.#time.spent;
    const share = phase === "closing" ? 1 : done / Math.max(done + remainingSeconds, done, 1e-9);
    this.request.onProgress?.({ phase, share: phase === "feasibility" ? 0 : share, remainingSeconds, depth });
  }
}

/** A prompt that was read to its end. */
interface TimedAnswer extends StreamedAnswer {
  readonly timings: CompletionTimings;
  readonly tokens: number;
}

/** What two prompts say about a longer one; where they are the same one, nothing about its growth. */
function feasibilityOf(short: TimedAnswer, first: TimedAnswer): Feasibility {
  const { tokens, seconds } = spanOf(first);
  const growth = short === first ? undefined : relativeGrowth(spanOf(short), { tokens, seconds });
  const speed = generationSpeedOf(first.timings);
  return {
    secondsPerToken: seconds / tokens,
    tokens,
    ...(growth !== undefined && { growth }),
    ...(speed !== undefined && { generationSecondsPerToken: 1 / speed }),
  };
}

const spanOf = ({ tokens, timings }: TimedAnswer): { readonly tokens: number; readonly seconds: number } => ({
  tokens,
  seconds: timings.promptSeconds,
});
