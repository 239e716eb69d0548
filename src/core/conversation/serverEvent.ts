/** What one line of llama-server says about its requests, caches and slots. */
export type ServerEvent =
  | { readonly kind: "serverStart" }
  | { readonly kind: "slots"; readonly count: number; readonly limit?: number; readonly unified?: boolean }
  | { readonly kind: "noCacheRam" }
  | { readonly kind: "copyRemoved" }
  | { readonly kind: "purged"; readonly slot: number }
  | { readonly kind: "refused"; readonly task: number; readonly promptTokens: number; readonly limit: number }
  | { readonly kind: "cancelled"; readonly task: number }
  | { readonly kind: "poolFull"; readonly task?: number }
  | { readonly kind: "ofSlot"; readonly slot: number; readonly task: number; readonly event: SlotEvent }
  /** Timings without slot and task in front, as builds of 2025 wrote them. */
  | TimingEvent;

export type TimingEvent =
  | { readonly kind: "prefill"; readonly tokens: number; readonly seconds: number }
  | { readonly kind: "generation"; readonly tokens: number; readonly seconds: number };

export type SlotEvent =
  | TimingEvent
  | { readonly kind: "oldest"; readonly holds?: number }
  | {
      readonly kind: "similar";
      /** Shared tokens over those of the prompt, and over those of the slot. */
      readonly similarity: number;
      readonly threshold?: number;
      readonly kept?: number;
    }
  | { readonly kind: "chosenById" }
  | { readonly kind: "launch" }
  | { readonly kind: "prompt"; readonly tokens: number; readonly limit: number }
  | { readonly kind: "cached"; readonly tokens: number }
  | {
      readonly kind: "progress";
      /** Tokens read so far; `whole`: with the cached ones. */
      readonly tokens: number;
      readonly whole: boolean;
      /** Of the whole prompt, to two decimals. */
      readonly share: number;
      readonly seconds?: number;
    }
  | { readonly kind: "generating"; readonly tokens: number }
  | { readonly kind: "timingsFollow" }
  | { readonly kind: "release"; readonly tokens: number; readonly truncated: boolean }
  | { readonly kind: "shift"; readonly discarded: number }
  | { readonly kind: "checkpointMade"; readonly tokens: number }
  | { readonly kind: "checkpointErased"; readonly tokens: number }
  | { readonly kind: "checkpointRestored"; readonly tokens: number }
  | { readonly kind: "allAgain" };

const timing = /^\s*(prompt )?eval time =\s*([\d.]+) ms \/\s*(\d+) (?:tokens|runs)/;

interface Reader {
  /** How the message begins: cheaper than the pattern. */
  readonly mark: string;
  readonly pattern: RegExp;
  readonly event: (match: RegExpExecArray) => SlotEvent;
}

/** Source: `server-context.cpp` from b5000 to b11669, and logs of the latter. */
const readers: readonly Reader[] = [
  {
    mark: "prompt processing,",
    pattern: /^prompt processing, n_tokens =\s*(\d+), progress = ([\d.]+), t =\s*([\d.]+) s/,
    event: ([, tokens, share, seconds]) => ({
      kind: "progress",
      tokens: Number(tokens),
      whole: false,
      share: Number(share),
      seconds: Number(seconds),
    }),
  },
  {
    mark: "prompt processing progress",
    pattern:
      /^prompt processing progress, n_(?:past|tokens) =\s*(\d+),(?: (?:batch\.)?n_tokens =\s*\d+,)? progress = ([\d.]+)/,
    event: ([, tokens, share]) => ({
      kind: "progress",
      tokens: Number(tokens),
      whole: true,
      share: Number(share),
    }),
  },
  ...["prompt eval time", "eval time"].map((mark): Reader => ({
    mark,
    pattern: timing,
    event: ([, prompt, milliseconds, tokens]) => ({
      kind: prompt === undefined ? "generation" : "prefill",
      tokens: Number(tokens),
      seconds: Number(milliseconds) / 1000,
    }),
  })),
  {
    mark: "stop processing",
    pattern: /^stop processing: n_(?:tokens|past) = (\d+), truncated = (\d)/,
    event: ([, tokens, truncated]) => ({
      kind: "release",
      tokens: Number(tokens),
      truncated: truncated === "1",
    }),
  },
  {
    mark: "selected slot by LCP",
    pattern:
      /^selected slot by LCP similarity, (?:f_)?sim(?:_best|ilarity)? = ([\d.]+)(?: \(> ([\d.]+) thold\))?(?:, f_keep = ([\d.]+))?/,
    event: ([, similarity, threshold, kept]) => ({
      kind: "similar",
      similarity: Number(similarity),
      ...(threshold !== undefined && { threshold: Number(threshold) }),
      ...(kept !== undefined && { kept: Number(kept) }),
    }),
  },
  {
    mark: "selected slot by LRU",
    pattern: /^selected slot by LRU, (?:n_tokens = (\d+), )?t_last = -?\d+/,
    event: ([, holds]) => ({ kind: "oldest", ...(holds !== undefined && { holds: Number(holds) }) }),
  },
  {
    mark: "selected slot by id",
    pattern: /^selected slot by id \(/,
    event: () => ({ kind: "chosenById" }),
  },
  { mark: "processing task", pattern: /^processing task\b/, event: () => ({ kind: "launch" }) },
  {
    mark: "n_gen =",
    pattern: /^n_gen =\s*(\d+), tg =/,
    event: ([, tokens]) => ({ kind: "generating", tokens: Number(tokens) }),
  },
  {
    mark: "new prompt",
    pattern:
      /^new prompt, n_ctx_slot = (\d+), n_keep = -?\d+, (?:task\.n_tokens|n_prompt_tokens|task->n_tokens) = (\d+)/,
    event: ([, limit, tokens]) => ({ kind: "prompt", tokens: Number(tokens), limit: Number(limit) }),
  },
  ...["cached n_tokens", "n_tokens", "n_past"].map((mark): Reader => ({
    mark,
    pattern: /^(?:cached )?n_(?:tokens|past) = (\d+), memory_seq_rm \[/,
    event: ([, tokens]) => ({ kind: "cached", tokens: Number(tokens) }),
  })),
  {
    mark: "slot context shift",
    pattern: /^slot context shift, n_keep = \d+, n_left = \d+, n_discard = (\d+)/,
    event: ([, discarded]) => ({ kind: "shift", discarded: Number(discarded) }),
  },
  {
    mark: "forcing full",
    pattern: /^forcing full prompt re-processing/,
    event: () => ({ kind: "allAgain" }),
  },
  ...(
    [
      ["created context checkpoint", "checkpointMade"],
      ["erasing old context checkpoint", "checkpointErased"],
      ["restored context checkpoint", "checkpointRestored"],
    ] as const
  ).map(([mark, kind]): Reader => ({
    mark,
    pattern: new RegExp(`^${mark}.*?\\bn_tokens = (\\d+)`),
    event: ([, tokens]) => ({ kind, tokens: Number(tokens) }),
  })),
];

/** By the first letter: every line of a long log is looked at. */
const byLetter = new Map<string, Reader[]>();
for (const reader of readers) {
  const letter = reader.mark.charAt(0);
  byLetter.set(letter, [...(byLetter.get(letter) ?? []), reader]);
}

/** Lines like these decide something; one that no pattern reads is worded in a way nobody here knows. */
const decisive =
  /selected slot|\beval time|prompt processing|stop processing|context (?:shift|checkpoint)|re-processing|exceeds the available context/;
/** Such lines that say nothing about a request's figures. */
const idle =
  /^\s*(?:total time|erased invalidated|superseding|erasing context checkpoint too close|checking checkpoint|created speculative|restoring speculative|restored \d+ context|(?:failed to )?append|invalid |truncated context)/;

/** The event of a line; undefined for the many others; "unknown" for a decisive line in words that are not known. */
export function serverEvent(text: string): ServerEvent | "unknown" | undefined {
  // `slot print_timing: id  0 | task 0 | prompt eval time = …`
  const bar = text.indexOf(" | task ");
  if (bar >= 0) {
    const end = text.indexOf(" |", bar + 8);
    const at = text.lastIndexOf("id", bar);
    if (end < 0 || at < 0) return undefined;
    const message = text.slice(end + 3).trimStart();
    const event =
      message === "" && text.includes("print_timing")
        ? ({ kind: "timingsFollow" } as const)
        : slotEvent(message);
    if (event === undefined || event === "unknown") return event;
    const [slot, task] = [Number(text.slice(at + 2, bar)), Number(text.slice(bar + 8, end))];
    return Number.isInteger(slot) && Number.isInteger(task)
      ? { kind: "ofSlot", slot, task, event }
      : undefined;
  }
  const old = text.includes("eval time") ? timing.exec(text) : null;
  if (old !== null) {
    const [, prompt, milliseconds, tokens] = old;
    return {
      kind: prompt === undefined ? "generation" : "prefill",
      tokens: Number(tokens),
      seconds: Number(milliseconds) / 1000,
    };
  }
  return otherEvent(text);
}

/** What the message behind `id 0 | task 0 |` says. */
export function slotEvent(trimmed: string): SlotEvent | "unknown" | undefined {
  for (const { mark, pattern, event } of byLetter.get(trimmed.charAt(0)) ?? []) {
    if (!trimmed.startsWith(mark)) continue;
    const match = pattern.exec(trimmed);
    if (match !== null) return event(match);
  }
  return decisive.test(trimmed) && !idle.test(trimmed) ? "unknown" : undefined;
}

function otherEvent(text: string): ServerEvent | "unknown" | undefined {
  if (text.includes("n_slots = ")) {
    const found = /n_slots = (\d+)(?:, n_ctx_slot = (\d+))?(?:, kv_unified = '(\w+)')?/.exec(text);
    if (found === null) return undefined;
    const [, count, limit, unified] = found;
    return {
      kind: "slots",
      count: Number(count),
      ...(limit !== undefined && { limit: Number(limit) }),
      ...(unified !== undefined && { unified: unified === "true" }),
    };
  }
  if (/load_model: loading model '|llama_server: initializing|main: server is listening/.test(text))
    return { kind: "serverStart" };
  if (text.includes("cancel task, id_task = ")) {
    return { kind: "cancelled", task: Number(/id_task = (\d+)/.exec(text)?.[1]) };
  }
  if (text.includes("exceeds the available context size")) {
    const found =
      /task id = (\d+), error: request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)/.exec(
        text,
      );
    if (found === null) return text.includes("send_error") ? "unknown" : undefined;
    const [, task, promptTokens, limit] = found;
    return {
      kind: "refused",
      task: Number(task),
      promptTokens: Number(promptTokens),
      limit: Number(limit),
    };
  }
  if (text.includes("Context size has been exceeded")) {
    const task = /task id = (\d+)/.exec(text)?.[1];
    return { kind: "poolFull", ...(task !== undefined && { task: Number(task) }) };
  }
  if (/removing oldest entry|exceeds cache size limit/.test(text)) return { kind: "copyRemoved" };
  if (/--cache-idle-slots requires --cache-ram|prompt cache is disabled/.test(text))
    return { kind: "noCacheRam" };
  const purged = text.includes("purging slot") ? /purging slot (\d+) with/.exec(text)?.[1] : undefined;
  return purged === undefined ? undefined : { kind: "purged", slot: Number(purged) };
}
