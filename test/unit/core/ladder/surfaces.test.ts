import { describe, expect, it } from "vitest";
import { explainLog } from "../../../../src/core/logs/explainLog";
import { formatText } from "../../../../src/core/format";
import { compareLadders } from "../../../../src/core/ladder/report/compareLadders";
import { comparisonMarkdown } from "../../../../src/core/ladder/report/comparisonMarkdown";
import { diagnose } from "../../../../src/core/ladder/diagnosis/diagnosis";
import { numberOf } from "../../../../src/core/ladder/diagnosis/diagnosisNumber";
import { readFacts } from "../../../../src/core/ladder/diagnosis/diagnosisFacts";
import { stepCosts } from "../../../../src/core/ladder/score/feasibility";
import { historyOfLadder } from "../../../../src/core/ladder/report/ladderHistory";
import { LadderWatch } from "../../../../src/core/ladder/report/ladderWatch";
import { recommendations } from "../../../../src/core/ladder/score/recommend";
import type { LadderStep } from "../../../../src/core/ladder/score/record";
import { isResumable, shownLadder } from "../../../../src/core/ladder/report/shownLadder";
import { storedLadder } from "../../../support/sampleLadders";
import { headerOf, outcomes, plan, recordOf, stepOf } from "./records";

/** One second for every thousand tokens, at any depth. */
const even = {
  key: { model: "m", build: "b", flags: "" },
  points: [0, 8192, 24_576].map((depth) => ({ depth, tokens: 8192, seconds: 8.192 })),
  generation: [],
};
const base = stepOf(4096, 1, outcomes(20, 20));
const curve = stepOf(8192, 1, outcomes(10, 10));

describe("a running ladder", () => {
  it("says what is left from the curve and from what is read by now", () => {
    const done: LadderStep[] = [base];
    const watch = new LadderWatch(plan, done, even);
    expect(watch.progress).toMatchObject({
      tokens: 8192,
      run: 1,
      processed: 0,
      steps: { done: 1, planned: 5 },
    });
    // the rest of 8192 on top of 4096, 32,768 on top of it, and twice cold; a thousand tokens a second
    const costs = stepCosts(plan).slice(1);
    const tokens = costs.reduce((sum, cost) => sum + cost.tokens, 0);
    const before = watch.progress.remaining?.likely ?? 0;
    // the first reading has no event yet, so that nothing is known to be cached
    expect(before).toBeGreaterThan(tokens / 1000);
    expect(before).toBeLessThan((tokens + 4096) / 1000 + 1);
    const [current] = stepCosts(plan).slice(1);
    if (current === undefined) throw new Error("no step");
    for (const processed of [4096, 6144]) {
      watch.read(current.step, { processed, seconds: (processed - 4096) / 500, cached: 4096 });
    }
    expect(watch.progress).toMatchObject({ tokens: 8192, processed: 6144 });
    done.push(curve);
    expect(watch.progress).toMatchObject({ tokens: 32_768, processed: 0, steps: { done: 2, planned: 5 } });
  });

  it("knows no time where nothing was measured", () => {
    expect(new LadderWatch(plan, [], undefined).progress.remaining).toBeUndefined();
  });
});

describe("a ladder for surfaces", () => {
  it("has no answers, prompts or single tokens in it", () => {
    const text = JSON.stringify(shownLadder("1", storedLadder("window")));
    expect(text).not.toMatch(/"answer"|"answerIds"|"constraintAnswer"/);
    expect(isResumable(shownLadder("1", storedLadder("window")))).toBe(false);
    const record = storedLadder("window");
    expect(isResumable(shownLadder("1", { ...record, steps: record.steps.slice(0, 3) }))).toBe(true);
  });

  it("becomes a line of the history; its curve never takes the place of a deeper one", () => {
    const about = { id: "1", key: even.key, at: 5, seconds: 60 };
    const record = storedLadder("window");
    const line = historyOfLadder(record, { ...about, known: undefined });
    expect(line).toMatchObject({
      kind: "ladder",
      id: "1",
      ended: "forgets",
      monitor: { verdict: "contaminated" },
    });
    expect(Math.max(...(line.curve?.points ?? []).map(({ depth, tokens }) => depth + tokens))).toBe(12_288);
    expect(historyOfLadder(record, { ...about, known: even }).curve).toBeUndefined();
  });
});

describe("recommended contexts", () => {
  it("end where recall was verified, and are of the folder that is meant", () => {
    const limits = { curve: even, verifiedTokens: 8192, maxContext: 40_000 };
    const folder = { label: "src", tokens: 20_000 };
    const found = recommendations(limits, folder);
    expect(found.map(({ use, limitedBy }) => [use, limitedBy])).toEqual([
      ["completion", "waiting"],
      ["chat", "need"],
      ["rag", "need"],
      ["codeReview", "recall"],
      ["summary", "recall"],
    ]);
    expect(found[3]?.nCtx).toBe(8192 + 4096);
    expect(formatText(found[3]?.sentence ?? { text: "", args: [] })).toMatch(
      /8,192 tokens, less than the 20,000/,
    );
  });

  it("are none where the context holds no more than the answer", () => {
    const found = recommendations({ curve: even, verifiedTokens: 8192, maxContext: 4096 });
    expect(found.map(({ nCtx }) => nCtx === undefined)).toEqual([false, false, false, true, false]);
  });

  it("are none where even the shortest length failed", () => {
    expect(recommendations({ curve: even, recalledTokens: 0 }).map(({ nCtx }) => nCtx)).toEqual(
      Array.from({ length: 5 }, () => undefined),
    );
  });
});

describe("two ladders in Markdown", () => {
  it("name what differs and what moved, and call no speed of a disturbed machine moved", () => {
    const first = storedLadder("window");
    const slower = first.steps.map((step) => ({ ...step, prefillSeconds: (step.prefillSeconds ?? 0) * 3 }));
    const setup = { ...first.header.setup, cacheTypeK: "q4_0" };
    const other = { ...first, header: { ...first.header, setup }, steps: slower };
    const comparison = compareLadders(first, other);
    expect(formatText(comparison.sentence)).toBe("Changing cacheTypeK had no effect that could be compared.");
    const text = comparisonMarkdown(comparison, { first: first.header, other: other.header });
    expect(text).toContain("| cacheTypeK |  | q4_0 |");
    expect(text).toContain("| 12,288 | prefill | 33 % |");
    expect(text).toContain("6 of 6 answers are the same to the end.");
    expect(text).toMatch(/no difference counts as a change/);
  });
});

describe("what the diagnosis reads before it asks", () => {
  it("takes context and slots from the server, and needs no question then", () => {
    const { facts, told } = readFacts({
      server: {
        url: "http://127.0.0.1:1",
        role: "single",
        model: { id: "m", nCtxTrain: 32_768 },
        nCtxPerSlot: 2048,
        totalSlots: 4,
        sleeping: false,
        hasVision: false,
      },
      launch: { kvUnified: false, ctxSize: 8192, cacheTypeK: "q4_0" },
      promptTokens: 5000,
    });
    expect(facts).toMatchObject({ nCtxPerSlot: 2048, slots: 4, kvQuantised: true, trainingContext: 32_768 });
    expect(diagnose(facts)).toMatchObject({ kind: "conclusion", cause: "contextDivided" });
    expect(told.map((text) => formatText(text))).toEqual([
      "The server: m, 2,048 tokens per request, 4 slots.",
      "The last estimate: a prompt of 5,000 tokens.",
    ]);
  });

  it("takes the error from a log", () => {
    // the words of llama.cpp's CUDA backend, as users report them
    const text =
      "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1152.00 MiB on device 0: cudaMalloc failed: out of memory\n";
    const { facts, told } = readFacts({ log: { ...explainLog(text), text } });
    expect(facts.logSays).toBe("outOfMemory");
    expect(formatText(told[0] ?? { text: "", args: [] })).toMatch(/^The log, line 1: /);
  });

  it("takes recall, disturbance and the time of the length from a ladder", () => {
    const { facts } = readFacts({ ladder: storedLadder("window") });
    expect(facts).toMatchObject({ recallShort: 1, recallLong: 30 / 36, disturbed: true });
    expect(facts.prefillSeconds).toBeCloseTo(133.27, 1);
  });

  it("takes the slowdown from a curve, per token", () => {
    const points = [
      { depth: 0, tokens: 512, seconds: 1 },
      { depth: 8192, tokens: 256, seconds: 1.5 },
    ];
    expect(readFacts({ curve: { ...even, points } }).facts.slowdown).toBeCloseTo(3);
  });
});

it("a stated disturbance is neither reached nor missed", () => {
  const record = recordOf([
    base,
    curve,
    stepOf(32_768, 1, outcomes(20, 20), { monitor: undefined as never }),
  ]);
  expect(headerOf().plan.criteria.monitor).toBe("stated");
  const found = shownLadder("1", record).report.results.find(({ name }) => name === "monitor");
  expect(found?.passed).toBeNull();
});

it.each([
  ["64K", "tokens", 65_536],
  [" 9216 ", "tokens", 9216],
  ["85 %", "share", 0.85],
  ["2,5", "share", 2.5],
  ["1.5", "bytes", 1.5 * 2 ** 30],
  ["512 MiB", "bytes", 2 ** 29],
  ["2 min", "seconds", 120],
  ["64 GiB", "tokens", undefined],
  ["many", "tokens", undefined],
  ["-1", "seconds", undefined],
  ["", "seconds", undefined],
] as const)("%j is read as %s: %s", (text, kind, value) => {
  expect(numberOf(text, kind)).toBe(value);
});
