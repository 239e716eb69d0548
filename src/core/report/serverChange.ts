import type { ServerFacts } from "../acceptance/serverFacts";
import { UserError } from "../userError";
import type { Situation } from "./situation";

/**
 * Whether the server of a situation has another model or context by now, or is gone: then nothing that was estimated
 * holds. One that is too busy to answer is taken to be the same. Fails with the signal's reason.
 */
export async function serverHasChanged(
  { server }: Pick<Situation, "server">,
  signal: AbortSignal,
): Promise<boolean> {
  if (!server.known) return false;
  const { facts, server: connection } = server.value;
  try {
    return !isSame(facts, await connection.facts(signal));
  } catch (error) {
    if (error instanceof UserError) return error.reason !== "timeout";
    throw error;
  }
}

/** A server that sleeps tells less of itself. */
function isSame(before: ServerFacts, now: ServerFacts): boolean {
  if (before.model.id !== now.model.id || before.model.path !== now.model.path) return false;
  return (
    before.sleeping ||
    now.sleeping ||
    (before.nCtxPerSlot === now.nCtxPerSlot &&
      before.totalSlots === now.totalSlots &&
      before.build === now.build &&
      before.model.weightsBytes === now.model.weightsBytes)
  );
}
