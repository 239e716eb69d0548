import type { ServerFacts } from "../../core/acceptance/serverFacts";
import { impossibleTokensPerSecond } from "../../core/llamaBench/benchRow";
import { count, say, seconds } from "../../core/text";
import { UserError } from "../../core/userError";
import type { CompletionTimings } from "../../node/llamaServer/completionEvents";

/** Two prompts at once would measure neither. @throws UserError where the server is busy or asleep */
export function refuseBusy({ sleeping, slots }: ServerFacts, url: string): void {
  if (sleeping) {
    throw new UserError(
      "loading",
      say`llama-server at ${url} is asleep.`,
      say`Send it a request to wake it, then probe again.`,
    );
  }
  const busy = slots?.filter((slot) => slot.busy).length ?? 0;
  if (busy > 0) {
    throw new UserError(
      "outsideFailed",
      say`llama-server at ${url} is busy: ${count(busy)} of its slots [is|are] in use.`,
      say`Probe again when it is idle.`,
    );
  }
}

/** A broken clock or a cached answer that nobody admits: such a figure would predict no wait at all. */
export function refuseImpossible({ promptTokens, promptSeconds }: CompletionTimings): void {
  if (promptSeconds > 0 && promptTokens / promptSeconds < impossibleTokensPerSecond) return;
  throw new UserError(
    "badOutput",
    say`The server claims to have read ${count(promptTokens)} token[s] in ${seconds(promptSeconds)}, which no machine can.`,
    say`Probe with llama-bench, or update llama.cpp.`,
  );
}

export const tooSlow = (budgetSeconds: number): UserError =>
  new UserError(
    "tooLarge",
    say`In ${seconds(budgetSeconds)} this server reads too few tokens to show how prefill slows down with depth.`,
    say`Allow the probe more time.`,
  );

export const closedEarly = (url: string): UserError =>
  new UserError(
    "outsideFailed",
    say`llama-server at ${url} closed the stream before it responded.`,
    say`Check its log for the cause.`,
  );

export const gone = (url: string): UserError =>
  new UserError(
    "outsideFailed",
    say`The server at ${url} was restarted or changed its model during the probe.`,
    say`Probe again; nothing of this run can be used.`,
  );
