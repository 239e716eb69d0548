import type { ServerFacts } from "../acceptance/serverFacts";
import { buildNumber } from "../launch/builds";
import { slotContext } from "../launch/slotContext";
import { count, say, type Text } from "../text";
import type { LaunchOptions } from "../launch/launchOptions";

/** What a running server does otherwise than its command line says. The server is right; a reader should know why. */
export function launchDifferences(facts: ServerFacts, given: LaunchOptions): Text[] {
  const { model, build, nCtxPerSlot, totalSlots } = facts;
  if (model.nCtxTrain === undefined || model.nCtxTrain <= 0) return [];
  const planned = slotContext(given, model.nCtxTrain, buildNumber(build));
  const found: Text[] = [];
  if (planned.slots !== totalSlots) {
    found.push(
      say`The command line sets ${count(planned.slots)} slot[s], the server has ${count(totalSlots)}.`,
    );
  }
  if (planned.nCtxPerSlot === nCtxPerSlot) return found;
  const fitted = planned.fitMayReduce && nCtxPerSlot < planned.nCtxPerSlot;
  found.push(
    fitted
      ? say`-fit reduced the context from ${count(planned.nCtxPerSlot)} to ${count(nCtxPerSlot)} token[s] because more does not fit into memory.`
      : say`The command line gives a request ${count(planned.nCtxPerSlot)} token[s], the server ${count(nCtxPerSlot)}.`,
  );
  return found;
}
