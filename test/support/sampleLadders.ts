import { readFileSync } from "node:fs";
import path from "node:path";
import { parseLadderLine, type LadderRecord, type LadderStep } from "../../src/core/ladder/score/record";
import { shownLadder, type LadderState } from "../../src/core/ladder/report/shownLadder";
import { repository } from "./repository";

/** A ladder that was really run, as it was stored (test/fixtures/ladder). */
export function storedLadder(name: "forgets" | "window"): LadderRecord {
  const file = path.join(repository, "test/fixtures/ladder", `${name}.jsonl`);
  const lines = readFileSync(file, "utf8").trim().split("\n").map(parseLadderLine);
  const [header] = lines;
  if (header?.kind !== "ladder") throw new Error(`no header in ${file}`);
  return { header, steps: lines.filter((line): line is LadderStep => line?.kind === "step"), warnings: [] };
}

const part = (record: LadderRecord, steps: number): LadderRecord => ({
  ...record,
  steps: record.steps.slice(0, steps),
});

/** The same ladder as it would stand where the server had died at the target. */
function died(record: LadderRecord): LadderRecord {
  const before = part(record, 3);
  const target = record.steps[3];
  if (target === undefined) throw new Error("the record is too short");
  const { kind, tokens, run, purpose, at, seconds, sentTokens } = target;
  const failure = {
    kind: "outOfMemory",
    message: "cudaMalloc failed: out of memory",
    atTokens: 9216,
    log: ["ggml_backend_cuda_buffer_type_alloc_buffer: allocating 640.00 MiB on device 0: cudaMalloc failed"],
  } as const;
  return {
    ...before,
    steps: [...before.steps, { kind, tokens, run, purpose, at, seconds, sentTokens, failure }],
  };
}

/** Every state the ladder's card can be in, by name. */
export const sampleLadders = {
  none: (): LadderState => ({ status: "none" }),
  running: (): LadderState => ({
    status: "running",
    progress: {
      tokens: 8192,
      run: 1,
      processed: 4608,
      steps: { done: 2, planned: 6 },
      remaining: { low: 140, likely: 171, high: 214 },
    },
    ladder: shownLadder("1", part(storedLadder("window"), 2)),
  }),
  beginning: (): LadderState => ({
    status: "running",
    progress: { tokens: 2048, run: 1, processed: 0, steps: { done: 0, planned: 6 } },
  }),
  resumable: (): LadderState => ({
    status: "shown",
    ladder: shownLadder("1", part(storedLadder("window"), 3)),
  }),
  stopped: (): LadderState => ({ status: "shown", ladder: shownLadder("1", died(storedLadder("window"))) }),
  forgets: (): LadderState => ({ status: "shown", ladder: shownLadder("1", storedLadder("window")) }),
  passed: (): LadderState => ({ status: "shown", ladder: shownLadder("1", passing(storedLadder("window"))) }),
} as const;

/** Judged by criteria that it reaches. */
function passing(record: LadderRecord): LadderRecord {
  const { header } = record;
  const criteria = { ...header.plan.criteria, perRun: 9, pooled: 27 };
  return { ...record, header: { ...header, plan: { ...header.plan, criteria } } };
}

export type SampleLadder = keyof typeof sampleLadders;
export const sampleLadderNames = Object.keys(sampleLadders) as readonly SampleLadder[];
