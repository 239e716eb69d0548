import { describe, expect, it } from "vitest";
import { answerAgreement } from "../../../../src/core/ladder/score/answerAgreement";
import { compareLadders } from "../../../../src/core/ladder/report/compareLadders";
import { diagnose } from "../../../../src/core/ladder/diagnosis/diagnosis";
import type { DiagnosisFacts } from "../../../../src/core/ladder/diagnosis/diagnosisStep";
import { ladderReport } from "../../../../src/core/ladder/report/ladderReport";
import { recommendContext, usualNeeds } from "../../../../src/core/ladder/score/recommend";
import type { LadderPlan } from "../../../../src/core/ladder/plan/plan";
import type { LadderRecord, LadderStep, SystemFailure } from "../../../../src/core/ladder/score/record";
import { ladderMarkdown } from "../../../../src/core/ladder/report/reportMarkdown";
import { formatText } from "../../../../src/core/format";
import { headerOf, outcomes, plan, recordOf, stepOf } from "./records";

const GiB = 2 ** 30;
const base = stepOf(4096, 1, outcomes(20, 20));
const curve = stepOf(8192, 1, outcomes(10, 10));
const target = (run: number, correct: number, more: Partial<LadderStep> = {}): LadderStep =>
  stepOf(32_768, run, outcomes(correct, 20), more);
const good = [base, curve, target(1, 20), target(2, 19), target(3, 20)];
const failing = (failure: SystemFailure, more: Partial<LadderStep> = {}): LadderStep => {
  const step = target(1, 0, more);
  const { canaries: _, ...rest } = step;
  return { ...rest, failure };
};
const outcomeOf = (steps: readonly LadderStep[], earlier: readonly LadderRecord[] = []) =>
  ladderReport(recordOf(steps), earlier).nextStep;

describe("the next step", () => {
  it("after a pass is to keep it, as a verified window", () => {
    const report = ladderReport(recordOf(good));
    expect(report.pass).toBe(true);
    expect(report.nextStep).toMatchObject({ outcome: "passed", change: "nothing", verifiedTokens: 32_768 });
  });

  const device = (
    name: string,
    freeGiB: number,
  ): { devices: { name: string; totalBytes: number; leastFreeBytes: number }[] } => ({
    devices: [{ name, totalBytes: 16 * GiB, leastFreeBytes: freeGiB * GiB }],
  });
  const oom: SystemFailure = { kind: "outOfMemory", message: "cudaMalloc failed: out of memory" };
  it.each([
    [
      "out of memory where the weights filled the device",
      [
        stepOf(4096, 1, outcomes(20, 20), { memory: device("CUDA0", 0.2) }),
        failing(oom, { memory: device("CUDA0", 0.1) }),
      ],
      { outcome: "outOfMemoryFromLoad", change: "weights" },
    ],
    [
      "out of memory where the length filled it",
      [
        stepOf(4096, 1, outcomes(20, 20), { memory: device("CUDA0", 6) }),
        failing(oom, { memory: device("CUDA0", 0.1) }),
      ],
      { outcome: "outOfMemoryWithLength", change: "kvCache" },
    ],
    [
      "one device full beside an empty one",
      [
        base,
        failing(oom, {
          memory: { devices: [...device("CUDA0", 0.1).devices, ...device("CUDA1", 8).devices] },
        }),
      ],
      { outcome: "oneDeviceFull", change: "placement" },
    ],
    ["out of memory without any view of it", [base, failing(oom)], { outcome: "outOfMemory" }],
    [
      "a server that died once",
      [base, failing({ kind: "serverDied", message: "", atTokens: 20_000 })],
      { outcome: "serverFailed" },
    ],
    [
      "a refused prompt",
      [base, failing({ kind: "contextTooSmall", message: "" })],
      { outcome: "contextTooSmall", change: "length" },
    ],
    [
      "a good recall at half the length only",
      [base, curve, target(1, 9), target(2, 10), target(3, 8)],
      { outcome: "forgets", change: "length", verifiedTokens: 8192 },
    ],
    [
      "a model that recalls little at any length",
      [stepOf(4096, 1, outcomes(9, 20)), curve, target(1, 9), target(2, 10), target(3, 8)],
      { outcome: "weakAtAnyLength" },
    ],
    [
      "runs that pass and fail",
      [base, curve, target(1, 20), target(2, 12), target(3, 20)],
      { outcome: "flaky", change: "load" },
    ],
    [
      "an answer that was cut off",
      [base, curve, target(1, 20), target(2, 20), { ...target(3, 0), invalid: "reasoningBudget" as const }],
      { outcome: "invalid", change: "plan" },
    ],
    ["a ladder that was broken off", [base, curve, target(1, 20)], { outcome: "incomplete" }],
  ])("after %s", (_, steps, expected) => {
    expect(outcomeOf(steps)).toMatchObject(expected);
    expect(ladderReport(recordOf(steps)).pass).toBe(false);
  });

  it("after a second failure at the same token count is to change cache or backend only", () => {
    const died = failing({ kind: "serverDied", message: "", atTokens: 20_100 });
    const earlier = recordOf([base, failing({ kind: "serverDied", message: "", atTokens: 20_000 })]);
    expect(outcomeOf([base, died], [earlier])).toMatchObject({
      outcome: "sameTokenCount",
      change: "kvCache",
    });
    const elsewhere = recordOf([base, failing({ kind: "serverDied", message: "", atTokens: 9000 })]);
    expect(outcomeOf([base, died], [elsewhere])).toMatchObject({ outcome: "serverFailed" });
  });

  it("after a slow pass is a smaller window, not another cache", () => {
    const slow = { ...plan, criteria: { ...plan.criteria, prefillSeconds: 10 } };
    const report = ladderReport(recordOf(good, slow));
    expect(report.pass).toBe(false);
    expect(report.nextStep).toMatchObject({ outcome: "tooSlow", change: "length" });
  });

  const declared = (criteria: Partial<LadderPlan["criteria"]>, steps: readonly LadderStep[]) =>
    ladderReport(recordOf(steps, { ...plan, criteria: { ...plan.criteria, ...criteria } }));
  const without = (name: keyof LadderStep, steps: readonly LadderStep[]): readonly LadderStep[] =>
    steps.map((step) => Object.fromEntries(Object.entries(step).filter(([key]) => key !== name)) as never);

  it.each([
    [
      "no generation",
      { generationTokensPerSecond: 5 },
      without("generationTokensPerSecond", good),
      /No generation/,
    ],
    ["no cold prefill", { prefillSeconds: 900 }, without("prefillSeconds", good), /No cold prefill/],
    [
      "nothing read cold",
      {},
      good.map((step) => ({ ...step, mode: "grown" as const })),
      /not been read cold yet/,
    ],
    [
      "a code answer that was cut off",
      { constraints: 3 },
      good.map((step) => ({ ...step, constraintInvalid: "answerCut" as const })),
      /code of 3 of 3 runs cannot be evaluated: the answer was cut off/,
    ],
  ])("is no pass with %s where the plan asks for it", (_, criteria, steps, seen) => {
    const report = declared(criteria, steps);
    expect(report.pass).toBe(false);
    expect(report.nextStep).toMatchObject({ outcome: "unmeasured", change: "plan" });
    expect(report.nextStep.verifiedTokens).not.toBe(32_768);
    expect(report.nextStep.actions.map((text) => formatText(text)).join(" ")).toMatch(seen);
  });

  it("of a pass names what nobody saw, and no window where nothing was asked", () => {
    const { nextStep: step } = ladderReport(recordOf(good));
    expect(step.actions.map((text) => formatText(text)).join(" ")).toMatch(/Free memory was not recorded/);
    const empty = declared(
      { perRun: 0, pooled: 0 },
      good.map((s) => ({ ...s, canaries: [] })),
    );
    expect(empty.nextStep).toMatchObject({ outcome: "nothingAsked", change: "plan" });
    expect(formatText(empty.nextStep.sentence)).toMatch(/not a verified window/);
  });

  it("tells when the middle is what is forgotten", () => {
    const middle = Array.from({ length: 20 }, (_, i) =>
      i > 4 && i < 15 ? ("missing" as const) : ("correct" as const),
    );
    const runs = [1, 2, 3].map((run) => stepOf(32_768, run, middle));
    expect(formatText(outcomeOf([base, curve, ...runs]).sentence)).toMatch(
      /most of all in the middle \(0.0 %/,
    );
  });

  it("tells when the beginning is what is forgotten", () => {
    const late = Array.from({ length: 20 }, (_, i) => (i < 14 ? ("missing" as const) : ("correct" as const)));
    const runs = [1, 2, 3].map((run) => stepOf(32_768, run, late));
    expect(formatText(outcomeOf([base, curve, ...runs]).sentence)).toMatch(
      /forgets the beginning \(0.0 % recalled there, 100 % at the end/,
    );
  });

  it("an invalid run is neither a pass nor wrong", () => {
    const report = ladderReport(
      recordOf([base, curve, target(1, 20), target(2, 20), { ...target(3, 0), invalid: "empty" }]),
    );
    expect(report.pass).toBe(false);
    expect(report.rungs.at(-1)?.recall).toMatchObject({ correct: 40, of: 40 });
    expect(report.results.find(({ name }) => name === "recallPooled")?.passed).toBeNull();
  });
});

describe("two configurations", () => {
  const other = (setup: Record<string, string>, steps: readonly LadderStep[]): LadderRecord => ({
    header: { ...headerOf(), setup: { ...headerOf().setup, ...setup } },
    steps,
    warnings: [],
  });
  it("that differ in one field have a cause, and what moved is named", () => {
    const worse = [base, curve, target(1, 10), target(2, 10), target(3, 10)];
    const { singleCause, recall, sentence } = compareLadders(
      recordOf(good),
      other({ cacheTypeK: "q4_0" }, worse),
    );
    expect(singleCause).toBe("cacheTypeK");
    expect(recall).toMatchObject({ onlyFirst: 29, onlyOther: 0, pairs: 90 });
    expect(formatText(sentence)).toMatch(
      /^Changing cacheTypeK affected recall \(29 canaries only before, 0 only after\)\.$/,
    );
  });

  it("that differ in more have none, whatever moved", () => {
    const fewer = [base, failing({ kind: "serverDied", message: "" })];
    const found = compareLadders(other({ cacheTypeK: "q8_0", build: "b1" }, fewer), recordOf(good));
    expect(found.singleCause).toBeUndefined();
    expect(found.capacity).toEqual({ first: 4096, other: 32_768 });
    expect(formatText(found.sentence)).toMatch(/as a whole changed capacity.*no single one can be named/);
  });

  it("a size that follows from the model file is no second cause", () => {
    const found = compareLadders(recordOf(good), other({ model: "n.gguf", weightsBytes: "5" }, good));
    expect(found.singleCause).toBe("model");
  });

  it("nine against ten recalled is nothing", () => {
    const fewer = [base, curve, target(1, 19), target(2, 20), target(3, 20)];
    const more = [base, curve, target(1, 20), target(2, 20), target(3, 20)];
    const found = compareLadders(recordOf(more), other({ cacheTypeK: "q8_0" }, fewer));
    expect(formatText(found.sentence)).toMatch(/affected neither/);
  });

  const words = (one: LadderRecord, two: LadderRecord): string => {
    const { sentence, notes } = compareLadders(one, two);
    return [sentence, ...notes].map((text) => formatText(text)).join(" ");
  };

  it("are not said to be unmoved where nothing could be compared", () => {
    const begun = other({ cacheTypeK: "q8_0" }, [base]);
    expect(words(recordOf(good), begun)).toMatch(
      /^Changing cacheTypeK had no effect that could be compared\./,
    );
    const noisy = good.map((step) => ({
      ...step,
      monitor: { verdict: "contaminated", events: [], samples: 1 } as const,
    }));
    expect(words(recordOf(good), other({ cacheTypeK: "q8_0" }, noisy))).toMatch(
      /no effect that could be compared/,
    );
    expect(words(recordOf(good), recordOf([]))).toMatch(
      /same setup twice: nothing changed that could be compared/,
    );
  });

  it("have no capacity to compare with other rungs, or before they have ended", () => {
    const shorter = recordOf([base, stepOf(8192, 1, outcomes(20, 20), { purpose: "target" })], {
      ...plan,
      rungs: [8192],
      repetitions: 1,
    });
    expect(words(recordOf(good), shorter)).toMatch(/different rungs: their capacity is not compared/);
    expect(words(recordOf(good), shorter)).not.toMatch(/capacity from/);
    expect(words(recordOf(good), recordOf([base, curve]))).not.toMatch(/capacity from/);
  });

  it("of two machines are not the same setup twice", () => {
    const machine = { platform: "linux", cpu: "x", logicalCpus: 2, memoryBytes: 2 ** 35 };
    const local = other({ machine: "x" }, good);
    const there = { ...local, header: { ...local.header, machine } };
    expect(compareLadders(local, there).differing).toEqual([
      { field: "machine", first: "x (2), 16.0 GiB", other: "x (2), 32.0 GiB" },
    ]);
    const far = (url: string): LadderRecord => ({ ...recordOf(good), header: { ...headerOf(), url } });
    expect(compareLadders(far("http://a:1"), far("http://b:1")).singleCause).toBe("machine");
    expect(compareLadders(far("http://a:1"), far("http://a:2")).differing).toEqual([]);
    expect(words(local, there)).not.toMatch(/noise of this machine/);
  });

  it("count a rung once that was run again", () => {
    const again = [base, curve, { ...target(1, 3), failure: { kind: "serverDied" as const, message: "" } }];
    const resumed = recordOf([...again, ...good.slice(2)]);
    expect(compareLadders(resumed, recordOf(good)).recall).toMatchObject({ pairs: 90, onlyOther: 0 });
  });

  it("that nobody watched have speeds of unknown cause", () => {
    const blind = good.map((step) => ({
      ...step,
      monitor: { verdict: "unmonitored", events: [], samples: 0 } as const,
    }));
    expect(words(recordOf(good), other({ build: "b2" }, blind))).toMatch(/was not monitored/);
  });

  it("agree as far as their answers begin alike, and their certainty is compared only there", () => {
    const wrote = (answer: string, ids: readonly number[], chances: readonly number[]): LadderRecord =>
      recordOf([
        { ...base, answer, answerIds: ids },
        { ...target(1, 20), constraintIds: ids, constraintLogProbabilities: chances },
      ]);
    const first = wrote("abcdef", [1, 2, 3, 4], [-0.1, -0.2, -0.3, -0.4]);
    const other = wrote("abcxyz", [1, 2, 9], [-0.1, -0.5, -3]);
    expect(answerAgreement(first, other)).toEqual({
      answers: 2,
      same: 0,
      unit: "tokens",
      byLength: [
        { tokens: 4096, agreed: 2, of: 4 },
        { tokens: 32_768, agreed: 2, of: 4 },
      ],
      logProbability: { tokens: 2, meanAbsoluteChange: 0.15, largestChange: 0.3 },
    });
    expect(answerAgreement(first, first)).toMatchObject({ answers: 2, same: 2 });
    expect(ladderReport(first).rungs.at(-1)?.certainty).toEqual({ meanLogProbability: -0.25, tokens: 4 });
    const without = (answer: string): LadderRecord => recordOf([{ ...base, answer }]);
    expect(answerAgreement(without("abcdef"), without("abcxyz"))).toMatchObject({
      unit: "characters",
      byLength: [{ tokens: 4096, agreed: 3, of: 6 }],
    });
    const reseeded = { ...first, header: { ...first.header, plan: { ...plan, seed: "7" } } };
    expect(compareLadders(first, reseeded).agreement).toBeUndefined();
  });
});

describe("a context for a use", () => {
  // 1000 tokens a second and growing: the cost of a token at depth x is 0.001 s + x * 1e-7 s
  const measured = {
    curve: {
      key: { model: "", build: "", flags: "" },
      points: [0, 8192, 16_384].map((depth) => ({
        depth,
        tokens: 2048,
        seconds: 2048 * (0.001 + (depth + 1024) * 1e-7),
      })),
      generation: [],
    },
  };
  it("follows from what this machine reads in time", () => {
    const quick = recommendContext({ use: "completion", ...usualNeeds.completion }, measured);
    // two seconds at 0.001 s and rising are about 1830 tokens; 256 more for the answer
    expect(quick).toMatchObject({ limitedBy: "waiting", nCtx: 2304 });
    expect(recommendContext({ use: "chat", ...usualNeeds.chat }, measured)).toMatchObject({
      limitedBy: "need",
      nCtx: 7168,
    });
  });

  it("ends where nobody knows how long more takes, and does not call that the wait", () => {
    const shallow = { curve: { ...measured.curve, points: measured.curve.points.slice(0, 1) } };
    const found = recommendContext({ use: "chat", ...usualNeeds.chat }, shallow);
    // one span of 2048 tokens says something about 1.5 times as many
    expect(found).toMatchObject({ limitedBy: "probe", nCtx: 4352 });
    expect(formatText(found.sentence)).toMatch(/more than 3,08\d tokens take is unknown/);
  });

  it("follows from recall where that ends first, and is unknown where nothing was measured", () => {
    const needs = { use: "summary" as const, ...usualNeeds.summary };
    expect(recommendContext(needs, { ...measured, verifiedTokens: 8192 })).toMatchObject({
      limitedBy: "recall",
      nCtx: 10_240,
    });
    expect(recommendContext(needs, {})).toMatchObject({ limitedBy: "unknown" });
  });
});

describe("why a long context fails", () => {
  it("ends with how to find out, where a question cannot be answered", () => {
    const step = diagnose({ symptom: "failsAtLoad" }, new Set(["freeAfterLoadBytes"]));
    expect(step).toMatchObject({ kind: "conclusion", cause: "unclear", change: "nothing" });
    if (step.kind === "conclusion")
      expect(step.actions.map((text) => formatText(text)).join()).toMatch(/free memory/);
  });

  /** Answers the questions from what the user would know; the cause it ends with and how many were asked. */
  function talk(
    known: DiagnosisFacts,
    answers: DiagnosisFacts,
  ): { readonly cause: string; readonly asked: readonly string[] } {
    let facts = known;
    const asked: string[] = [];
    for (let i = 0; i < 20; i++) {
      const step = diagnose(facts);
      if (step.kind === "conclusion") return { cause: step.cause, asked };
      expect(asked).not.toContain(step.fact);
      asked.push(step.fact);
      expect(answers[step.fact]).toBeDefined();
      facts = { ...facts, [step.fact]: answers[step.fact] };
    }
    throw new Error("no conclusion");
  }

  it.each([
    [
      "nothing is asked that the server says",
      { nCtxPerSlot: 8192, slots: 4, unified: false, promptTokens: 20_000 },
      {},
      "contextDivided",
      0,
    ],
    [
      "the server gives less than was asked for",
      { nCtxPerSlot: 4096, requestedContext: 131_072, promptTokens: 70_000 },
      {},
      "contextReduced",
      0,
    ],
    ["weights fill the card", { symptom: "failsAtLoad" }, { freeAfterLoadBytes: 2e8 }, "weightsFill", 1],
    [
      "cache fills the card",
      { symptom: "failsAtLength", logSays: "outOfMemory" },
      { freeAfterLoadBytes: 4 * GiB },
      "cacheFills",
      1,
    ],
    [
      "the same token count",
      {},
      { symptom: "failsAtLength", logSays: "otherError", sameTokenCount: true },
      "cacheOrBackend",
      3,
    ],
    [
      "one card of two",
      {
        devices: [
          { name: "CUDA0", freeBytes: 1e8, totalBytes: 16 * GiB },
          { name: "CUDA1", freeBytes: 6 * GiB, totalBytes: 8 * GiB },
        ],
      },
      { symptom: "failsAtLoad" },
      "oneDeviceFull",
      1,
    ],
    ["slow from the start", {}, { symptom: "slow", offloaded: true, slowdown: 1.1 }, "offload", 3],
    [
      "slow with depth",
      { prefillSeconds: 1291 },
      { symptom: "slow", offloaded: false, slowdown: 4 },
      "attentionCost",
      3,
    ],
    [
      "beyond training",
      { trainingContext: 16_384, promptTokens: 40_000 },
      { symptom: "forgets" },
      "beyondTraining",
      1,
    ],
    ["context shift", { contextShift: true }, { symptom: "forgets" }, "contextShifted", 1],
    [
      "a quantised cache",
      { promptTokens: 9000 },
      { symptom: "forgets", recallShort: 1, kvQuantised: true },
      "quantisedCache",
      3,
    ],
    [
      "the model itself",
      { promptTokens: 9000, kvQuantised: false, recallShort: 0.95 },
      { symptom: "forgets" },
      "modelForgets",
      1,
    ],
    ["a weak model", { promptTokens: 9000 }, { symptom: "forgets", recallShort: 0.4 }, "modelWeak", 2],
    ["others at work", {}, { symptom: "sometimes", disturbed: true }, "otherLoad", 2],
    [
      "no room for the answer",
      { nCtxPerSlot: 8192, promptTokens: 8100 },
      { symptom: "stopsEarly" },
      "answerRoom",
      1,
    ],
  ] as [string, DiagnosisFacts, DiagnosisFacts, string, number][])(
    "%s",
    (_, known, answers, cause, questions) => {
      const found = talk(known, answers);
      expect(found.cause).toBe(cause);
      expect(found.asked).toHaveLength(questions);
    },
  );
});

it("the report in Markdown has criteria, rungs, positions, setup and no broken table", () => {
  const record = recordOf([...good.slice(0, 4), { ...target(3, 20), answer: "a|b\nc" }]);
  const text = ladderMarkdown(ladderReport(record), { ...record.header, setup: { model: "a|b\nc.gguf" } });
  for (const part of [
    "passed",
    "hash `c`",
    "| 32,768 | target | 3 | 59/60 |",
    "## Recall by position",
    "begun",
  ])
    expect(text).toContain(part);
  const rows = text.split("\n").filter((line) => line.startsWith("|"));
  expect(rows.every((row) => row.endsWith("|"))).toBe(true);
});

it("the report in Markdown keeps names and messages of strangers text", () => {
  const evil = "[click](https://example.org) <img src=x> `a`";
  const failure: SystemFailure = { kind: "serverError", message: evil, log: ["```", evil] };
  const { answer: _, ...step } = target(3, 20);
  const record = recordOf([...good.slice(0, 4), { ...step, failure }]);
  const header = { ...record.header, setup: { model: evil } };
  const report = ladderReport({ ...record, header });
  const text = ladderMarkdown(report, header, { label: evil, tokens: 100_000 });
  const written = String.raw`\[click\](https\://example.org) \<img src=x\> \`a\``;
  expect(text).toContain(`| model | ${written} |`);
  expect(text.split(written).length - 1).toBeGreaterThan(2);
  // as they are only within a fence that they cannot end
  expect(text.split(evil)).toHaveLength(2);
  expect(text).toContain(`\n\`\`\`\`\n\`\`\`\n${evil}\n\`\`\`\`\n`);
});
