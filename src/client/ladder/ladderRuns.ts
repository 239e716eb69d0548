import type { LadderFollower, Ladders, WantedLadder } from "../../app/ladders";
import {
  isResumable,
  shownOf,
  type LadderState,
  type ShownLadder,
} from "../../core/ladder/report/shownLadder";
import type { ToPanel } from "../../core/protocol/panelMessages";
import { say } from "../../core/text";
import { UserError } from "../../core/userError";
import { setContextKey } from "../editor/contextKeys";
import { Emitter, type Disposable } from "../editor/lifecycle";
import type { PanelPart } from "../panel/panelPart";

/** What the editor asks of the ladders. */
export type LaddersInUse = Pick<
  Ladders,
  "planText" | "checkPlan" | "kept" | "samePlan" | "run" | "report" | "compare" | "diagnosis"
>;

/** Holds the ladder on show and the one that runs, and is the only one to change it. */
export class LadderRuns implements PanelPart, Disposable {
  private readonly changes = new Emitter<LadderState>();
  private current: LadderState = { status: "none" };
  private running: AbortController | undefined;
  private opened: Promise<void> | undefined;
  private readonly ended = new AbortController();

  /** Fires after every change of `state`. */
  readonly onDidChange = this.changes.event;

  constructor(readonly ladders: LaddersInUse) {}

  get state(): LadderState {
    return this.current;
  }

  get message(): ToPanel {
    return { type: "ladder", ladder: this.current };
  }

  pageOpened(): Promise<void> {
    return this.open();
  }

  /** Shows the newest stored ladder, once, unless one is on show already. */
  open(): Promise<void> {
    this.opened ??= this.showNewest().catch((error: unknown) => {
      // what could not be read may be readable the next time
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  private async showNewest(): Promise<void> {
    const [newest] = await this.ladders.kept(this.ended.signal);
    if (newest !== undefined && this.current.status === "none") {
      this.publish({ status: "shown", ladder: newest });
    }
  }

  /** @throws UserError where one runs already, or the run cannot begin; an abort after `cancel` */
  async run(wanted: WantedLadder, follower: LadderFollower): Promise<ShownLadder> {
    if (this.running !== undefined) {
      throw new UserError(
        "invalidInput",
        say`A ladder is already running.`,
        say`Wait for it, or cancel it; completed runs are kept.`,
      );
    }
    const controller = new AbortController();
    this.running = controller;
    const before = this.current;
    try {
      const ladder = await this.ladders.run(
        wanted,
        {
          ...follower,
          onChange: (progress, so) => {
            follower.onChange(progress, so);
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
    this.ended.abort();
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
