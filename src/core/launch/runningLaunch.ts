import type { ServerFacts } from "../acceptance/serverFacts";
import { autoSlots } from "../acceptance/slotContext";
import type { LaunchOptions } from "./launchOptions";

/**
 * Options that would give what a running server reports. `given` (its command line, a setting) fills in what `/props` does
 * not tell; context and slots are the server's own word. Four slots are the sign of `-np` left at auto, which shares one
 * pool; any other number was asked for and divides the context unless told otherwise.
 */
export function runningLaunch(facts: ServerFacts, given: LaunchOptions): LaunchOptions {
  const unified = given.kvUnified ?? facts.totalSlots === autoSlots;
  return {
    ...given,
    ...(facts.model.path !== undefined && given.model === undefined && { model: facts.model.path }),
    parallel: facts.totalSlots,
    kvUnified: unified,
    ctxSize: unified ? facts.nCtxPerSlot : facts.nCtxPerSlot * facts.totalSlots,
  };
}
