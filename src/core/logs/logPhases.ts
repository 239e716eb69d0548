import { say, type Text } from "../text";
import type { LogLine } from "./reading/logLine";

/** A stretch of a log about one thing; lines from 1, both included. */
export interface LogPhase {
  readonly title: Text;
  readonly kind: "start" | "fit" | "header" | "weights" | "context" | "server" | "request" | "end";
  readonly first: number;
  readonly last: number;
}

interface Opening {
  readonly kind: LogPhase["kind"];
  readonly pattern: RegExp;
  readonly title: (match: RegExpExecArray) => Text;
}

const openings: readonly Opening[] = [
  {
    kind: "request",
    pattern:
      /slot (?:launch_slot_|launch_slot_with_task): id\s+\d+ \| task (\d+) \| (?:processing task|new task)/,
    title: (match) => say`Request ${match[1] ?? ""}`,
  },
  { kind: "fit", pattern: /fitting params to (?:device|free) memory/, title: () => say`Fit` },
  { kind: "header", pattern: /loaded meta data with/, title: () => say`Model header` },
  {
    kind: "weights",
    pattern: /loading model tensors|load_tensors: (?:offloading|ggml ctx size)/,
    title: () => say`Weights`,
  },
  {
    kind: "context",
    pattern: /creating MTP draft context|loading draft model/,
    title: () => say`Draft`,
  },
  {
    kind: "context",
    pattern: /constructing llama_context|llama_new_context_with_model: n_(?:seq_max|ctx) /,
    title: () => say`Context`,
  },
  {
    kind: "server",
    pattern: /initializing(?: slots)?, n_slots|model loaded$|listening on http/,
    title: () => say`Server`,
  },
  { kind: "end", pattern: /cleaning up before exit|exiting due to/, title: () => say`End` },
  {
    kind: "start",
    pattern:
      /llama_server: initializing|print_info: build|^(?:main: )?build(?::| =) \d+|ggml_cuda_init|device_info/,
    title: () => say`Start`,
  },
];
const anything = new RegExp(openings.map(({ pattern }) => pattern.source).join("|"));

/** Cuts a log into its phases; the same kind again goes on with the phase, except requests. */
export function logPhases(lines: readonly LogLine[]): LogPhase[] {
  const phases: { -readonly [K in keyof LogPhase]: LogPhase[K] }[] = [];
  for (const line of lines) {
    const current = phases.at(-1);
    if (current !== undefined) current.last = line.number;
    if (!anything.test(line.text)) continue;
    for (const { kind, pattern, title } of openings) {
      const match = pattern.exec(line.text);
      if (match === null) continue;
      const goesOn = current?.kind === kind && kind !== "request";
      // an MTP context is constructed right behind the line that announces it
      if (!goesOn) {
        if (current !== undefined) current.last = line.number - 1;
        phases.push({ kind, title: title(match), first: line.number, last: line.number });
      }
      break;
    }
  }
  return phases.filter((phase) => phase.last >= phase.first);
}

/** Does a text look like a log of llama.cpp? For files with the ending .log that no pattern names. */
export function looksLikeLog(text: string): boolean {
  const head = text.slice(0, 20_000);
  return (
    /^(?:.{0,80}?)\d+\.\d\d\.\d{3}\.\d{3} [DIWE] (?:srv|slot|cmn|llama_|print_info|load)/m.test(head) ||
    /llama_model_loader: |llama_new_context_with_model: |llama_kv_cache\w*: |srv\s+load_model: /.test(head)
  );
}
