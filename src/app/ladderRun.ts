import { createHash } from "node:crypto";
import type { ServerFacts } from "../core/acceptance/serverFacts";
import { composeChain, type RungPrompt } from "../core/ladder/prompt/compose";
import { checkFits, costOf, type LadderCost } from "../core/ladder/score/feasibility";
import { criteriaText, planIdentity, type LadderPlan } from "../core/ladder/plan/plan";
import {
  ladderVersion,
  type LadderHeader,
  type LadderRecord,
  type LadderSetup,
  type LadderStep,
} from "../core/ladder/score/record";
import { chainOf, isDone, type PlannedStep } from "../core/ladder/score/steps";
import { endsAtBase } from "../core/ladder/score/recallWindow";
import type { DepthCurve } from "../core/prefill/depthCurve";
import type { PrefillProgress } from "../core/prefill/liveEta";
import { count, say, type Text } from "../core/text";
import { UserError } from "../core/userError";
import { fillerOf, type FillerSource } from "../node/ladder/ladderFiller";
import { conditionsOf } from "../node/ladder/ladderConditions";
import { LadderServer } from "../node/ladder/ladderServer";
import { findServerProcess, machineOf, setupOf, type ServerProcess } from "../node/ladder/ladderSetup";
import { runStep } from "../node/ladder/ladderStep";
import { LadderStore } from "../node/ladder/ladderStore";
import { HttpLlamaServer } from "../node/llamaServer/llamaServer";
import { TimeLimitError } from "../node/waiting/within";
import { withLimit } from "../node/waiting/withLimit";
import { append } from "../core/lists";

export interface LadderRequest {
  readonly url: string;
  readonly apiKey?: string;
  /** Which of a router's models. */
  readonly model?: string;
  readonly plan: LadderPlan;
  /** Where the plan's relative paths begin. */
  readonly planFolder: string;
  /** Where every step is stored before the next begins, and from where a broken-off ladder goes on. */
  readonly out?: string;
  /** Of this server and setup: gives the cost in seconds. */
  readonly curve?: DepthCurve;
  /** The server's log, read when it fails. */
  readonly logFile?: string;
  readonly tool: string;
  /** File name of the plan, for people. */
  readonly label?: string;
  /** Seconds between two looks at the machine; 1 by default. */
  readonly lookSeconds?: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Before the first request; what it waits for is waited for, and a rejection ends the ladder. */
  readonly onCost?: (cost: LadderCost, leftSteps: number) => void | Promise<void>;
  /** The record as it grows, once the first run begins. */
  readonly onBegin?: (record: LadderRecord) => void;
  readonly onStep?: (step: LadderStep) => void;
  readonly onProgress?: (step: PlannedStep, progress: LadderPrefill) => void;
}

/** `processed` tokens with the cached ones. */
export type LadderPrefill = PrefillProgress & { readonly cached: number };

/**
 * Runs the ladder, or what is left of it. A failure of the system ends it and is its last step; everything else that
 * goes wrong is a `UserError`. An abort leaves what is stored.
 */
export async function runLadder(request: LadderRequest, signal: AbortSignal): Promise<LadderRecord> {
  const run = new LadderRun(request, signal);
  return run.run();
}

/** SHA-256 of a plan's canonical text, shortened. */
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Equal for plans that ask the same. */
export const planHashOf = (plan: LadderPlan): string => hashOf(planIdentity(plan));

/** What the server itself says: a reply without it proves nothing. */
const told: ReadonlySet<string> = new Set(["build", "weightsBytes", "parameters", "machine", "program"]);

/**
 * What is not as it was. An option that is given on one side only counts where the process was seen both times; where it
 * was not, nothing is proved.
 */
function changedFields(before: LadderSetup, now: LadderSetup): readonly string[] {
  const seen = before["program"] !== undefined && now["program"] !== undefined;
  const onBoth = (field: string): boolean => before[field] !== undefined && now[field] !== undefined;
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter(
    (field) => before[field] !== now[field] && (onBoth(field) || (seen && !told.has(field))),
  );
}

class LadderRun {
  readonly #http: HttpLlamaServer;
  readonly #server: LadderServer;
  readonly #store: LadderStore | undefined;
  readonly #steps: LadderStep[] = [];
  readonly #warnings: Text[] = [];
  readonly #began: number;

  constructor(
    private readonly request: LadderRequest,
    private readonly signal: AbortSignal,
  ) {
    this.#http = new HttpLlamaServer(request);
    this.#server = new LadderServer({ ...request, url: this.#http.url });
    this.#store = request.out === undefined ? undefined : new LadderStore(request.out);
    this.#began = request.now();
  }

  async run(): Promise<LadderRecord> {
    const { plan } = this.request;
    const facts = await this.#http.facts(this.signal);
    this.#refuseSleeping(facts);
    checkFits(plan, facts);
    const found = await findServerProcess(this.#http.url, this.signal);
    const stored = await this.#store?.read(this.signal);
    const begins = this.#header(facts, found);
    if (stored !== undefined) this.#goOn(stored.header, begins, stored.steps);
    const open = Array.from({ length: plan.repetitions }, (_, i) => chainOf(plan, i + 1)).map((chain) =>
      chain.filter((step) => !isDone(step, this.#steps)),
    );
    const left = open.flat().length;
    const recordOf = (header: LadderHeader): LadderRecord => ({
      header: stored?.header ?? header,
      steps: this.#steps,
      warnings: this.#warnings,
    });
    if (left === 0 || endsAtBase(recordOf(begins))) return recordOf(begins);
    this.#refuseBusy(facts);
    const frame =
      plan.canaries.question === "line"
        ? { prefix: "", suffix: "" }
        : await this.#server.frame(plan.thinking, this.signal);
    const tokenizer = this.#http.tokenizer(facts);
    const filler = await this.#inTime(() =>
      fillerOf(
        plan,
        this.request.planFolder,
        async (texts) => (await tokenizer.count(texts, this.signal)).map(({ tokens }) => tokens),
        this.signal,
      ),
    );
    this.#refuseOtherFiller(stored?.header, filler);
    const conditions = await conditionsOf(facts, found, this.signal);
    const header = { ...begins, conditions, ...(filler.hash !== undefined && { fillerHash: filler.hash }) };
    const record = recordOf(header);
    if (filler.leftOut > 0) {
      this.#warnings.push(
        say`${count(filler.leftOut)} file[s] [was|were] excluded from the filler: binary, secret, ignored or unreadable.`,
      );
    }
    await this.request.onCost?.(costOf(plan, this.request.curve), left);
    this.request.onBegin?.(record);
    const opensThinking = /<think>\s*$/.test(frame.suffix);
    let begun = stored !== undefined;
    for (const steps of open) {
      const [first] = steps;
      if (first === undefined) continue;
      const prompts = await this.#inTime(() => this.#prompts(first.run, frame, filler));
      // a plan that cannot be carried out leaves no record
      if (!begun) await this.#store?.append(header);
      begun = true;
      for (const step of steps) {
        const prompt = prompts.find(({ tokens }) => tokens === step.tokens);
        if (prompt === undefined) throw new Error(`no prompt of ${step.tokens} tokens`);
        await this.#refuseOtherServer(record.header, found);
        const result = await this.#step(step, prompt, { found, opensThinking });
        if (result.failure === undefined) await this.#refuseOtherServer(record.header, found);
        this.#steps.push(result);
        await this.#store?.append(result);
        this.request.onStep?.(result);
        if (result.failure !== undefined || endsAtBase(record)) return record;
      }
    }
    return record;
  }

  /** What comes before a rung counts, too. */
  async #inTime<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await withLimit(this.signal, 1000 * Math.max(0, this.#leftSeconds()), work);
    } catch (cause) {
      if (!(cause instanceof TimeLimitError)) throw cause;
      throw new UserError(
        "timeout",
        say`The time the plan allows passed while the prompts were put together.`,
        say`Allow more in limits.totalSeconds, or check that the server is not overloaded.`,
        { cause },
      );
    }
  }

  #leftSeconds(): number {
    return this.request.plan.limits.totalSeconds - (this.request.now() - this.#began) / 1000;
  }

  #prompts(
    run: number,
    frame: { readonly prefix: string; readonly suffix: string },
    filler: FillerSource,
  ): Promise<readonly RungPrompt[]> {
    const { plan } = this.request;
    const lengths = [...new Set(chainOf(plan, run).map(({ tokens }) => tokens))];
    return composeChain(plan, run, lengths, {
      frame,
      tokenize: (text, options) => this.#server.tokenize(text, options, this.signal),
      filler: filler.open(run),
    });
  }

  async #step(
    step: PlannedStep,
    prompt: RungPrompt,
    { found, opensThinking }: { readonly found: ServerProcess; readonly opensThinking: boolean },
  ): Promise<LadderStep> {
    const { plan, logFile, now, onProgress, lookSeconds = 1 } = this.request;
    const none = { kind: "step" as const, ...step, at: now(), seconds: 0, sentTokens: prompt.prompt.length };
    const left = this.#leftSeconds();
    if (left <= 0) return { ...none, failure: { kind: "timeLimit", message: "totalSeconds" } };
    if (await this.#isBusy()) return { ...none, failure: { kind: "busy", message: "" } };
    const result = await runStep(
      step,
      prompt,
      {
        server: this.#server,
        plan,
        found,
        opensThinking,
        lookSeconds,
        timeoutSeconds: Math.min(left, plan.limits.rungSeconds),
        isAlive: () =>
          this.#http.facts(this.signal).then(
            () => true,
            () => false,
          ),
        ...(logFile !== undefined && { logFile }),
        now,
        ...(onProgress !== undefined && {
          onProgress: (progress: LadderPrefill) => onProgress(step, progress),
        }),
      },
      this.signal,
    );
    this.#noteRereading(step, result);
    return result;
  }

  /** Hybrid models and sliding windows often cannot keep a prefix: the rung is then read from the start. */
  #noteRereading({ run, purpose, tokens }: PlannedStep, { cachedTokens }: LadderStep): void {
    const grows = run === 1 && (purpose === "curve" || purpose === "target");
    const before = this.#steps.findLast((step) => step.run === run && step.tokens < tokens)?.tokens ?? 0;
    if (!grows || cachedTokens === undefined || cachedTokens > before * 0.5) return;
    this.#warnings.push(
      say`The server did not keep the shorter rung for ${count(tokens)} token[s] and read them from the start.`,
    );
  }

  async #isBusy(): Promise<boolean> {
    const facts = await this.#http.facts(this.signal).catch((cause: unknown) => {
      this.signal.throwIfAborted();
      if (cause instanceof UserError) return undefined; // dead: the step itself will say how
      throw cause;
    });
    return facts?.slots?.some((slot) => slot.busy) ?? false;
  }

  #refuseSleeping(facts: ServerFacts): void {
    if (!facts.sleeping) return;
    throw new UserError(
      "loading",
      say`llama-server at ${this.#http.url} is asleep.`,
      say`Send it a request to wake it, then run the ladder again.`,
    );
  }

  #refuseBusy(facts: ServerFacts): void {
    const busy = facts.slots?.filter((slot) => slot.busy).length ?? 0;
    if (busy === 0) return;
    throw new UserError(
      "outsideFailed",
      say`llama-server at ${this.#http.url} is busy: ${count(busy)} of its slots [is|are] in use.`,
      say`Run the ladder when it is idle; nobody else should use it in the meantime.`,
    );
  }

  /** One that was restarted with other options, or that loads another model, would be measured under this one's name. */
  async #refuseOtherServer({ setup }: LadderHeader, found: ServerProcess): Promise<void> {
    const facts = await this.#http.facts(this.signal).catch((cause: unknown) => {
      this.signal.throwIfAborted();
      if (cause instanceof UserError) return undefined; // dead: the step itself will say how
      throw cause;
    });
    if (facts === undefined) return;
    const now = setupOf(facts, found.local ? await findServerProcess(this.#http.url, this.signal) : found);
    const changed = changedFields(setup, now);
    if (changed.length === 0) return;
    throw new UserError(
      "outsideFailed",
      say`llama-server at ${this.#http.url} is not the one this ladder was started with: ${changed.join(", ")} changed.`,
      say`Restart it with the original options and run the ladder again to resume after the last saved rung, or start a new ladder.`,
    );
  }

  #refuseOtherFiller(stored: LadderHeader | undefined, { hash }: FillerSource): void {
    if (stored?.fillerHash === undefined || stored.fillerHash === hash) return;
    throw new UserError(
      "invalidInput",
      say`The filler text is not the one the record in ${this.request.out ?? ""} was started with.`,
      say`Start a new ladder in another folder; the record there is left unchanged.`,
    );
  }

  #header(facts: ServerFacts, found: ServerProcess): LadderHeader {
    const { plan, planFolder, label, tool, now } = this.request;
    return {
      kind: "ladder",
      version: ladderVersion,
      tool,
      at: now(),
      plan,
      planHash: planHashOf(plan),
      criteriaHash: hashOf(criteriaText(plan)),
      setup: setupOf(facts, found),
      machine: machineOf(),
      url: this.#http.url,
      nCtxPerSlot: facts.nCtxPerSlot,
      totalSlots: facts.totalSlots,
      ...(label !== undefined && { label }),
      planFolder,
    };
  }

  /** Takes over the steps of a broken-off ladder; refuses another plan or another setup in the same folder. */
  #goOn(stored: LadderHeader, now: LadderHeader, steps: readonly LadderStep[]): void {
    const remedy = say`Start a new ladder in another folder; the record there is left unchanged.`;
    if (stored.criteriaHash !== now.criteriaHash) {
      throw new UserError(
        "invalidInput",
        say`The record in ${this.request.out ?? ""} was started with other criteria; with different criteria it is a new plan.`,
        remedy,
      );
    }
    if (stored.planHash !== now.planHash) {
      throw new UserError(
        "invalidInput",
        say`The record in ${this.request.out ?? ""} belongs to another plan.`,
        remedy,
      );
    }
    const changed = changedFields(stored.setup, now.setup);
    if (changed.length > 0) {
      throw new UserError(
        "invalidInput",
        say`The server is not the one the record in ${this.request.out ?? ""} was started with: ${changed.join(", ")} changed.`,
        remedy,
      );
    }
    append(this.#steps, steps);
  }
}
