import { count, say, seconds, type Text } from "../text";
import type { Reread, RereadKind } from "./requestRecord";

interface Explained {
  readonly cause: Text;
  readonly remedy: Text;
}

const explanations: Readonly<Record<RereadKind, Explained>> = {
  slotBusy: {
    cause: say`The conversation's slot was busy, so another slot read the prompt from its beginning.`,
    remedy: say`Let the client wait for an answer before it sends the next request, or turn its parallel requests off.`,
  },
  slotTaken: {
    cause: say`Another conversation had taken the slot, and no copy was kept.`,
    remedy: say`Start the server with at least as many slots as there are conversations (-np), or with --cache-ram.`,
  },
  cacheRamFull: {
    cause: say`The copy of the conversation in host memory was removed, because --cache-ram was full.`,
    remedy: say`Start the server with a larger --cache-ram, or with one slot for each conversation (-np).`,
  },
  belowThreshold: {
    cause: say`So much of the prompt is new that the slot's share of it is below the similarity threshold.`,
    remedy: say`Start the server with a lower --slot-prompt-similarity (-sps).`,
  },
  changedBeginning: {
    cause: say`The prompt differs from the conversation before its last answer: a date, a list of tools or files, or edited messages.`,
    remedy: say`Turn off what the client changes at the beginning of its prompt, or move it to the end.`,
  },
  behindCheckpoint: {
    cause: say`The prompt differs behind the last usable checkpoint: a sliding window or recurrent state cannot go back elsewhere.`,
    remedy: say`Do not edit earlier messages. With a sliding window, --swa-full keeps everything, for more memory.`,
  },
  checkpointErased: {
    cause: say`The checkpoint to go back to had been erased: there were more than --ctx-checkpoints allows.`,
    remedy: say`Start the server with more --ctx-checkpoints (-ctxcp).`,
  },
  contextShift: {
    cause: say`The context was shifted during an answer, so the slot no longer begins as the prompt does.`,
    remedy: say`Start the server without --context-shift, with a larger -c; or begin a new conversation earlier.`,
  },
  cachePromptOff: {
    cause: say`The slot held this prompt, but the cache was turned off.`,
    remedy: say`Remove cache_prompt: false from the request, or --no-cache-prompt from the server's options.`,
  },
  cacheNotUsed: {
    cause: say`The slot held this prompt and did not use it: the cache was turned off (cache_prompt: false), or a sliding window or recurrent state could not go back that far.`,
    remedy: say`The log says which with -lv 4.`,
  },
};

/** Why a prompt was read again, and what avoids it. */
export function rereadText(reread: Reread): Explained & { readonly what: Text } {
  const { kind, tokens, seconds: spent, provenance } = reread;
  const { cause, remedy } = explanations[kind];
  const what =
    spent === undefined
      ? say`${count(tokens)} token[s] read again.`
      : say`${count(tokens)} token[s] read again in ≈ ${seconds(spent)}.`;
  return {
    what,
    cause:
      provenance === "assumed"
        ? say`${cause} (Assumed: judging by its length, the prompt continues request ${String(reread.after ?? 0)}.)`
        : cause,
    remedy,
  };
}
