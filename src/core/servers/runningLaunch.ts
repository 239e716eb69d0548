import type { ServerFacts } from "../acceptance/serverFacts";
import { buildNumber } from "../launch/builds";
import { autoSlots, slotContext } from "../launch/slotContext";
import type { LaunchOptions } from "../launch/launchOptions";

/**
 * Options that would give what a running server reports. `given` (its command line, a setting) holds where it agrees with
 * the server and fills in what `/props` does not tell; where the two disagree about context or slots the server is
 * right. Four slots are then the sign of `-np` left at auto, which shares one pool; any other number was asked for and
 * divides the context unless told otherwise.
 */
export function runningLaunch(facts: ServerFacts, given: LaunchOptions): LaunchOptions {
  const model = given.model ?? facts.model.path;
  const named = { ...given, ...(model !== undefined && { model }) };
  if (agrees(facts, given)) return named;
  const unified = given.kvUnified ?? facts.totalSlots === autoSlots;
  return {
    ...named,
    parallel: facts.totalSlots,
    kvUnified: unified,
    ctxSize: unified ? facts.nCtxPerSlot : facts.nCtxPerSlot * facts.totalSlots,
  };
}

function agrees({ model, build, nCtxPerSlot, totalSlots }: ServerFacts, given: LaunchOptions): boolean {
  if (model.nCtxTrain === undefined) return false;
  const planned = slotContext(given, model.nCtxTrain, buildNumber(build));
  return planned.nCtxPerSlot === nCtxPerSlot && planned.slots === totalSlots;
}
