import type { PlanProblem } from "../../core/ladder/plan/planProblem";
import type { LadderCost } from "../../core/ladder/score/feasibility";
import type { ReadFacts } from "../../core/ladder/diagnosis/diagnosisFacts";
import type { FolderTokens } from "../../core/ladder/score/recommend";
import {
  isResumable,
  shownOf,
  type LadderProgress,
  type LadderState,
  type ShownLadder,
} from "../../core/ladder/report/shownLadder";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { setContextKey } from "../editor/contextKeys";
import { Emitter, type Disposable } from "../editor/lifecycle";

/** What a ladder is run from. */
export type LadderRequest = (
  | {
      readonly kind: "new";
      /** Of the plan file. */
      readonly text: string;
      readonly label: string;
      readonly planFolder: string;
    }
  /** Behind the last stored run. */
  | { readonly kind: "goOn"; readonly id: string }
) & {
  /** Before the first request; a rejection ends the ladder before it began. */
  readonly onCost: (cost: LadderCost, leftSteps: number) => Promise<void>;
  readonly onChange: (progress: LadderProgress, ladder: ShownLadder | undefined) => void;
};

export interface LadderOutside {
  /** A plan for the server in use. */
  readonly planText: (signal: AbortSignal) => Promise<string>;
  readonly checkPlan: (text: string) => Promise<PlanProblem | undefined>;
  /** Newest first. */
  readonly kept: (signal: AbortSignal) => Promise<readonly ShownLadder[]>;
  /** The newest ladder of exactly this plan. @throws UserError where it is none */
  readonly samePlan: (text: string, signal: AbortSignal) => Promise<ShownLadder | undefined>;
  readonly run: (request: LadderRequest, signal: AbortSignal) => Promise<ShownLadder>;
  readonly report: (
    id: string,
    format: "markdown" | "json",
    folder: FolderTokens | undefined,
    signal: AbortSignal,
  ) => Promise<string>;
  readonly compare: (first: string, other: string, signal: AbortSignal) => Promise<string>;
  /** What server, log and history say about a long prompt. */
  readonly diagnosis: (
    about: { readonly logText?: string; readonly promptTokens?: number },
    signal: AbortSignal,
  ) => Promise<ReadFacts>;
}

/** Holds the ladder on show and the one that runs, and is the only one to change it. */
export class LadderDesk implements Disposable {
  private readonly changes = new Emitter<LadderState>();
  private current: LadderState = { status: "none" };
  private running: AbortController | undefined;
  private opened: Promise<void> | undefined;

  /** Fires after every change of `state`. */
  readonly onDidChange = this.changes.event;

  constructor(readonly outside: LadderOutside) {}

  get state(): LadderState {
    return this.current;
  }

  /** Shows the newest stored ladder, once, unless one is on show already. */
  open(): Promise<void> {
    this.opened ??= this.outside.kept(new AbortController().signal).then(([newest]) => {
      if (newest !== undefined && this.current.status === "none") {
        this.publish({ status: "shown", ladder: newest });
      }
    });
    return this.opened;
  }

  /** @throws UserError where one runs already, or the run cannot begin; an abort after `cancel` */
  async run(request: LadderRequest): Promise<ShownLadder> {
    if (this.running !== undefined) {
      throw new UserError(
        "invalidInput",
        say`A ladder is running already.`,
        say`Wait for it, or cancel it: what is done is kept.`,
      );
    }
    const controller = new AbortController();
    this.running = controller;
    const before = this.current;
    try {
      const ladder = await this.outside.run(
        {
          ...request,
          onChange: (progress, so) => {
            request.onChange(progress, so);
            this.publish({ status: "running", progress, ...(so !== undefined && { ladder: so }) });
          },
        },
        controller.signal,
      );
      this.publish({ status: "shown", ladder });
      return ladder;
    } catch (error) {
      const ladder = shownOf(this.current);
      this.publish(
        this.current.status === "running" && ladder !== undefined ? { status: "shown", ladder } : before,
      );
      throw error;
    } finally {
      this.running = undefined;
    }
  }

  /** Ends the running one; what is stored of it stays on show. */
  cancel(): void {
    this.running?.abort();
  }

  show(ladder: ShownLadder): void {
    if (this.running === undefined) this.publish({ status: "shown", ladder });
  }

  dispose(): void {
    this.cancel();
    this.changes.dispose();
  }

  private publish(state: LadderState): void {
    this.current = state;
    const ladder = shownOf(state);
    setContextKey("llamaGauge.ladderRunning", state.status === "running");
    setContextKey("llamaGauge.hasLadder", ladder !== undefined);
    setContextKey("llamaGauge.ladderResumable", state.status === "shown" && isResumable(state.ladder));
    this.changes.fire(state);
  }
}
