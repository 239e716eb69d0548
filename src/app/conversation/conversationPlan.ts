import type { ConversationPlan, PlanRequest } from "../../core/conversation/plan";
import { planConversation } from "../../core/conversation/plan";
import type { LaunchOptions } from "../../core/launch/launchOptions";
import { slotContext, type SlotContext } from "../../core/launch/slotContext";
import type { Model } from "../../core/model/model";
import { promptKeeping } from "../../core/prefill/secondQuestion";
import { gatherBudgets } from "../budgets";

export interface PlannedSetup {
  readonly model: Model;
  readonly path: string;
  readonly launch: LaunchOptions;
  /** Conversations that take turns. */
  readonly agents: number;
}

/** llama-server's default, MiB. */
const defaultCacheRam = 8192;

/** A conversation on a server that is started with these options. */
export async function conversationPlan(
  request: Omit<PlanRequest, "limit" | "keeping" | "kept">,
  setup: PlannedSetup,
  signal: AbortSignal,
): Promise<ConversationPlan & { readonly context: SlotContext }> {
  const context = slotContext(setup.launch, setup.model);
  const plan = (kept: boolean): ConversationPlan =>
    planConversation({
      ...request,
      limit: context.nCtxPerSlot,
      keeping: promptKeeping(setup.model, setup.launch),
      kept,
    });
  const kept = plan(true);
  return { ...((await findsItself(kept, setup, context, signal)) ? kept : plan(false)), context };
}

/** Nothing is found where the cache is off. With more conversations than slots each one's state goes to host memory between its turns, if there is room for all. */
async function findsItself(
  { turns }: ConversationPlan,
  setup: PlannedSetup,
  { slots }: SlotContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { agents, launch, model, path } = setup;
  if (launch.cachePrompt === false) return false;
  if (agents <= slots) return true;
  const cacheRam = launch.cacheRam ?? defaultCacheRam;
  if (cacheRam < 0) return true;
  if (cacheRam === 0) return false;
  const budgets = await gatherBudgets(
    { devices: [], programs: {} },
    { model, path },
    launch,
    undefined,
    signal,
  );
  const longest = turns.findLast(({ accepted }) => accepted)?.promptTokens ?? 0;
  // the one that comes back is still there when another is put beside it
  const held = (agents - slots + 1) * longest * budgets.of(launch).bytesPerToken;
  return held <= cacheRam * 2 ** 20;
}
