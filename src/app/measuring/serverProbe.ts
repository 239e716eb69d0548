import { randomInt } from "node:crypto";
import os from "node:os";
import { readTokens } from "../../core/acceptance/serverReplies";
import type { ServerFacts } from "../../core/acceptance/serverFacts";
import { impossibleTokensPerSecond } from "../../core/llamaBench/benchRow";
import { judgeDrift } from "../../core/bench/drift";
import { probeCurve, sessionSpreadOf, unwatchedSpread } from "../../core/bench/probeCurve";
import { relativeGrowth, planStream } from "../../core/bench/probePlan";
import type { StreamPlan } from "../../core/bench/probePlan";
import type { ProbeEnd, ProbeProgress, ProbeReport } from "../../core/bench/probeReport";
import { costSteps } from "../../core/bench/costSteps";
import { saltedText } from "../../core/bench/saltedText";
import type { CurveKey, CurvePoint, DepthCurve, GenerationPoint } from "../../core/prefill/depthCurve";
import { progressSpans, remainingPrefill } from "../../core/prefill/liveEta";
import { isLocal, portOf } from "../../core/servers/serverAddress";
import { count, say, seconds } from "../../core/text";
import type { Text } from "../../core/text";
import { UserError } from "../../core/userError";
import { noTokens } from "../../node/llamaServer/llamaServerErrors";
import { HttpLlamaServer } from "../../node/llamaServer/llamaServer";
import { LlamaServerConnection } from "../../node/llamaServer/llamaServerConnection";
import { startMonitor } from "../../node/monitor/monitor";
import type { Monitor } from "../../node/monitor/monitor";
import { listeningProcess } from "../../node/monitor/monitorLinux";
import { streamCompletion, type StreamedAnswer } from "../../node/llamaServer/serverProbeStream";
import type { CompletionTimings } from "../../node/llamaServer/completionEvents";
import { append, smallest } from "../../core/lists";

export interface ServerProbeRequest {
  readonly url: string;
  readonly apiKey?: string;
  /** Which of a router's models. */
  readonly model?: string;
  readonly budgetSeconds?: number;
  /** Deepest position to probe; the slot's context by default. */
  readonly maxDepth?: number;
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
const baselineSamples = 3;
/** Between two reports of what has been measured. */
const tellSeconds = 3;
/** Of a text that is tokenised at once. */
const mostWords = 30_000;
/** No vocabulary has tokens of so many words of ordinary text on average. */
const mostWordsPerToken = 8;
/** Between two reports of progress, in seconds: a server decides how many events it sends. */
const progressSeconds = 0.2;
/** The repeat of the feasibility run may take this part of the budget. */
const driftShare = 0.15;
/** The repeat may take so many times what the first took: a machine that got slower than that is told by its absence. */
const repeatPatience = 4;

/**
 * Measures prefill by depth on the running server: one long streamed request, every batch a point, closed when the
 * budget is used up. Fails with `UserError` when the server is busy or nothing was measured.
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
  readonly #began = performance.now() / 1000;
  readonly #budget: number;
  readonly #monitor: Monitor | undefined;
  readonly #points: CurvePoint[] = [];
  readonly #generation: GenerationPoint[] = [];
  readonly #overheads: number[] = [];
  readonly #warnings: Text[] = [];
  readonly #text: number[] = [];
  #told = 0;
  #facts: ServerFacts | undefined;

  constructor(
    private readonly request: ServerProbeRequest,
    private readonly signal: AbortSignal,
  ) {
    this.#server = new HttpLlamaServer(request);
    this.#connection = new LlamaServerConnection(this.#server.url, request.apiKey);
    this.#budget = request.budgetSeconds ?? 60;
    const local = isLocal(this.#server.url);
    this.#monitor =
      request.monitor ?? (local ? startMonitor({ intervalSeconds: 1, usesCpu: true }) : undefined);
  }

  async close(): Promise<void> {
    await this.#monitor?.stop();
  }

  async run(): Promise<ProbeReport> {
    const facts = await this.#idleServer();
    this.#facts = facts;
    const pid =
      process.platform === "linux" && this.#monitor !== undefined
        ? listeningProcess(portOf(this.#server.url))
        : undefined;
    if (pid !== undefined) this.#monitor?.measure(pid);
    await this.#monitor?.baseline(baselineSamples, this.signal);
    // Room for the answer, and for what the server itself adds to a prompt.
    const deepest = Math.min(this.request.maxDepth ?? Infinity, facts.nCtxPerSlot - 64);
    const head = Math.floor(Math.min(feasibilityTokens, deepest) / 4) * 4;
    this.#progress("feasibility", this.#budget, 0);
    // a slow machine may take twice the budget for these, and then nothing follows
    const patience = (): number => 2 * this.#budget - this.#spent();
    await this.#stream(warmUpTokens, 1, patience());
    const short = await this.#stream(head / 4, 1, patience());
    const first = await this.#stream(head, 16, patience());
    const firstSeconds = first.timings?.promptSeconds;
    if (firstSeconds === undefined || first.timings === undefined) throw this.#unfinished(first);
    refuseImpossible(first.timings);
    const spent = this.#spent();
    const repeats = firstSeconds <= driftShare * this.#budget;
    const left = this.#budget - spent - (repeats ? firstSeconds : 0);
    const { generatedTokens, generationSeconds } = first.timings;
    const growth =
      short.timings && relativeGrowth(spanOf(short.timings), { tokens: head, seconds: firstSeconds });
    const plan = planStream(
      {
        secondsPerToken: firstSeconds / head,
        tokens: head,
        ...(growth !== undefined && { growth }),
        ...(generatedTokens > 0 && { generationSecondsPerToken: generationSeconds / generatedTokens }),
      },
      { budgetSeconds: left, maxDepth: deepest },
    );
    this.#keep(short, head / 4);
    this.#keep(first, head);
    this.#tellMeasured([]);
    if (plan === undefined) {
      // No time or no room for more: two short prompts are little, but they are measured.
      this.#warnings.push(
        say`Only the first ${count(head)} token[s] [was|were] measured; more time would show more.`,
      );
      const seen = { tokens: head, generatedTokens: 16, seconds: spent };
      return this.#report(seen, "budget", undefined);
    }
    this.request.onPlan?.(plan);
    const main = await this.#stream(plan.tokens, plan.generatedTokens, left).catch((error: unknown) =>
      this.#lost(error),
    );
    if (main !== undefined) this.#keep(main, plan.tokens);
    const over = main === undefined ? "failed" : this.#endOf(main);
    const again =
      repeats && (over === "finished" || over === "budget")
        ? await this.#stream(head, 1, repeatPatience * firstSeconds)
        : undefined;
    const againSeconds = again?.timings?.promptSeconds;
    const drift = againSeconds === undefined ? undefined : judgeDrift(firstSeconds, againSeconds, "prefill");
    await this.#sameServer(facts);
    this.#progress("closing", 1, plan.tokens);
    return this.#report(plan, over, drift);
  }

  /** What the server is, refusing one that is busy: two prompts at once would measure neither. */
  async #idleServer(): Promise<ServerFacts> {
    const facts = await this.#server.facts(this.signal);
    if (facts.sleeping) {
      throw new UserError(
        "loading",
        say`llama-server at ${this.#server.url} is asleep.`,
        say`Send it a request to wake it, then probe again.`,
      );
    }
    const busy = facts.slots?.filter((slot) => slot.busy).length ?? 0;
    if (busy > 0) {
      throw new UserError(
        "outsideFailed",
        say`llama-server at ${this.#server.url} is busy: ${count(busy)} of its slots [is|are] in use.`,
        say`Probe again when it is idle.`,
      );
    }
    return facts;
  }

  /** One cold request of so many tokens of text nobody has sent before. */
  async #stream(tokens: number, generatedTokens: number, timeoutSeconds: number): Promise<StreamedAnswer> {
    const prompt = await this.#prompt(tokens);
    const started = performance.now() / 1000;
    const events: { processed: number; seconds: number }[] = [];
    let shown = 0;
    const answer = await streamCompletion(
      this.#connection,
      {
        ...(this.request.model !== undefined && { model: this.request.model }),
        prompt,
        generatedTokens,
        timeoutSeconds: Math.max(1, timeoutSeconds),
        onProgress: (step) => {
          events.push(step);
          const now = performance.now() / 1000;
          if (tokens <= feasibilityTokens || now - shown < progressSeconds) return;
          shown = now;
          if (now - this.#told >= tellSeconds) {
            this.#tellMeasured(progressSpans({ total: tokens, cached: 0, progress: events }));
          }
          const eta = remainingPrefill({ total: tokens, cached: 0, progress: events });
          const left = Math.max(
            0,
            Math.min(eta.known ? eta.seconds : Infinity, timeoutSeconds - (now - started)),
          );
          this.#progress("measuring", left, step.processed);
        },
      },
      this.signal,
    );
    if (answer.cached > 0) {
      throw new UserError(
        "badOutput",
        say`The server took ${count(answer.cached)} token[s] of the probe from its cache although it was told not to.`,
        say`Probe without --cache-reuse, or with llama-bench.`,
      );
    }
    if (answer.timings !== undefined && tokens > warmUpTokens) {
      this.#overheads.push(Math.max(0, answer.wallSeconds - answer.timings.promptSeconds));
    }
    return answer;
  }

  /** Tokens are cut from one long text; each request begins with its own salt, so no prefix is shared. */
  async #prompt(tokens: number): Promise<readonly number[]> {
    const salt = await this.#tokenize(saltedText(randomInt(2 ** 31), 64));
    while (this.#text.length < tokens) {
      const words = Math.min(tokens - this.#text.length + 256, mostWords);
      const more = await this.#tokenize(saltedText(randomInt(2 ** 31), words));
      // or it would be asked without end
      if (more.length * mostWordsPerToken < words) throw noTokens(this.#server.url);
      append(this.#text, more);
    }
    return [...salt, ...this.#text].slice(0, tokens);
  }

  #tokenize(content: string): Promise<readonly number[]> {
    const { model } = this.request;
    return this.#connection.ask(
      {
        path: "/tokenize",
        body: { content, add_special: false, ...(model !== undefined && { model }) },
        timeoutSeconds: 30,
        maxBytes: 8 * 2 ** 20,
      },
      readTokens,
      this.signal,
    );
  }

  #keep({ progress, timings, cached }: StreamedAnswer, tokens: number): void {
    append(this.#points, progressSpans({ total: tokens, cached, progress }));
    if (timings !== undefined && timings.generatedTokens > 1 && timings.generationSeconds > 0) {
      this.#generation.push({
        depth: tokens,
        tokensPerSecond: timings.generatedTokens / timings.generationSeconds,
      });
    }
  }

  /** A server that is gone before it said a word: what was measured before still stands. */
  #lost(error: unknown): undefined {
    const gone =
      error instanceof UserError && (error.reason === "refused" || error.reason === "outsideFailed");
    if (!gone) throw error;
    this.#warnings.push(error.problem);
  }

  /** A server that was restarted or changed its model in between has measured two different things. */
  async #sameServer(before: ServerFacts): Promise<void> {
    if (this.signal.aborted) return;
    const after = await this.#server.facts(this.signal).catch(() => undefined);
    if (after === undefined) {
      this.#warnings.push(say`The server disappeared during the probe.`);
      return;
    }
    const changed =
      after.build !== before.build ||
      after.model.id !== before.model.id ||
      after.model.path !== before.model.path ||
      after.nCtxPerSlot !== before.nCtxPerSlot;
    if (!changed) return;
    throw new UserError(
      "outsideFailed",
      say`The server at ${this.#server.url} was restarted or changed its model during the probe.`,
      say`Probe again; nothing of this run can be used.`,
    );
  }

  #endOf(main: StreamedAnswer): ProbeEnd {
    if (this.signal.aborted) return "cancelled";
    if (main.ended === "aborted") return "budget";
    return main.ended === "finished" ? "finished" : "failed";
  }

  #unfinished(answer: StreamedAnswer): Error {
    this.signal.throwIfAborted();
    return answer.ended === "aborted"
      ? tooSlow(this.#budget)
      : new UserError(
          "outsideFailed",
          say`llama-server at ${this.#server.url} closed the stream before it responded.`,
          say`Check its log for the cause.`,
        );
  }

  async #report(plan: StreamPlan, ended: ProbeEnd, drift: ProbeReport["drift"]): Promise<ProbeReport> {
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
      seconds: performance.now() / 1000 - this.#began,
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
    this.#told = performance.now() / 1000;
    const measured = { points: [...this.#points, ...under], generation: this.#generation };
    this.request.onMeasured?.(probeCurve(this.#key(), measured, unwatchedSpread));
  }

  /** Seconds since the probe began. */
  #spent(): number {
    return performance.now() / 1000 - this.#began;
  }

  #progress(phase: ProbeProgress["phase"], remainingSeconds: number, depth: number): void {
    const done = this.#spent();
    const share = phase === "closing" ? 1 : done / Math.max(done + remainingSeconds, done, 1e-9);
    this.request.onProgress?.({ phase, share: phase === "feasibility" ? 0 : share, remainingSeconds, depth });
  }
}

/** A broken clock or a cached answer that nobody admits: such a figure would predict no wait at all. */
function refuseImpossible({ promptTokens, promptSeconds }: CompletionTimings): void {
  if (promptSeconds > 0 && promptTokens / promptSeconds < impossibleTokensPerSecond) return;
  throw new UserError(
    "badOutput",
    say`The server claims to have read ${count(promptTokens)} token[s] in ${seconds(promptSeconds)}, which no machine can.`,
    say`Probe with llama-bench, or update llama.cpp.`,
  );
}

function spanOf({ promptTokens, promptSeconds }: CompletionTimings): { tokens: number; seconds: number } {
  return { tokens: promptTokens, seconds: promptSeconds };
}

function tooSlow(budgetSeconds: number): UserError {
  return new UserError(
    "tooLarge",
    say`In ${seconds(budgetSeconds)} this server reads too few tokens to show how prefill slows down with depth.`,
    say`Allow the probe more time.`,
  );
}
