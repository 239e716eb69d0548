import type { WantedLadder } from "../../app/ladders";
import type { LadderCost } from "../../core/ladder/score/feasibility";
import type { LadderProgress, ShownLadder } from "../../core/ladder/report/shownLadder";
import { count, say, seconds, type Text } from "../../core/text";
import type { LadderRuns } from "./ladderRuns";
import { together } from "../../core/shown";
import { askToGoOn, showingProgress } from "../editor/screen";
import { localized } from "../editor/vscodeText";

/**
 * Runs a ladder behind a notification that says where it is and how long it still takes, and can cancel it. Before the
 * first request the user sees what it costs, and may think better of it: then an abort is thrown.
 */
export async function runLadderTask(
  runs: LadderRuns,
  wanted: WantedLadder,
  { label, ask }: { readonly label: string; readonly ask: boolean },
): Promise<ShownLadder> {
  return showingProgress(localized(say`Ladder ${label}`), async (progress, cancelled) => {
    const cancel = (): void => runs.cancel();
    cancelled.addEventListener("abort", cancel);
    let shown = 0;
    try {
      progress.report({ message: localized(say`Checking the server and the plan`) });
      return await runs.run(wanted, {
        onCost: async (cost, left) => {
          if (ask && !(await confirmed(cost, left))) throw new DOMException("not wanted", "AbortError");
        },
        onChange: (now) => {
          const share = 100 * shareOf(now);
          progress.report({
            message: localized(ladderProgressText(now)),
            increment: Math.max(0, share - shown),
          });
          shown = Math.max(shown, share);
        },
      });
    } finally {
      cancelled.removeEventListener("abort", cancel);
    }
  });
}

async function confirmed(cost: LadderCost, left: number): Promise<boolean> {
  const start = localized(left < cost.steps ? say`Resume` : say`Start`);
  const stored =
    left < cost.steps
      ? [say`${count(cost.steps - left)} of ${count(cost.steps)} run[s] [is|are] already saved.`]
      : [];
  const detail = [
    cost.sentence,
    ...stored,
    say`Nobody else should use the server in the meantime. Every run is saved before the next one starts, so you can cancel and resume later.`,
  ];
  return askToGoOn(
    "information",
    localized(say`Start the ladder?`),
    start,
    together(detail.map(localized), "\n\n"),
  );
}

/** Runs done, and the part of the current one that has been read. */
const shareOf = ({ steps, tokens, processed }: LadderProgress): number =>
  (steps.done + (tokens > 0 ? Math.min(1, processed / tokens) * 0.95 : 0)) / Math.max(1, steps.planned);

function ladderProgressText({ steps, tokens, processed, remaining }: LadderProgress): Text {
  const at = say`Run ${count(Math.min(steps.done + 1, steps.planned))} of ${count(steps.planned)}: ${count(processed)} of ${count(tokens)} token[s] read.`;
  return remaining === undefined
    ? at
    : say`${at} ${seconds(remaining.likely)} left (${seconds(remaining.low)} to ${seconds(remaining.high)}).`;
}
