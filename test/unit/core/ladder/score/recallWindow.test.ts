import { describe, expect, it } from "vitest";
import { formatText } from "../../../../../src/core/format";
import { LadderRandom } from "../../../../../src/core/ladder/prompt/ladderRandom";
import type { LadderPlan } from "../../../../../src/core/ladder/plan/plan";
import { ladderReport, measuredLimits } from "../../../../../src/core/ladder/report/ladderReport";
import { isResumable, shownLadder } from "../../../../../src/core/ladder/report/shownLadder";
import type { LadderStep } from "../../../../../src/core/ladder/score/record";
import { recommendContext, usualNeeds } from "../../../../../src/core/ladder/score/recommend";
import { endsAtBase, type RecallWindow } from "../../../../../src/core/ladder/score/recallWindow";
import { outcomes, plan, recordOf, stepOf } from "../records";

const target = 32_768;
const repeated: LadderPlan = { ...plan, rungs: [8192, 16_384, target], repeated: [4096, 16_384] };
const run = (tokens: number, number: number, correct: number, of = 20): LadderStep =>
  stepOf(tokens, number, outcomes(correct, of));
const thrice = (tokens: number, correct: readonly number[]): readonly LadderStep[] =>
  correct.map((k, i) => run(tokens, i + 1, k));

describe("a model that is too weak for the question", () => {
  // one-sided 95 % of Clopper and Pearson: 13 of 20 is at most 0.837, 14 of 20 at most 0.860
  it.each([
    [13, true],
    [14, false],
  ])("is said to be so behind the base score of %i of 20: %s", (correct, ends) => {
    expect(endsAtBase(recordOf([run(4096, 1, correct)]))).toBe(ends);
  });

  const said = (steps: readonly LadderStep[], wanted: LadderPlan = plan): string => {
    const { nextStep } = ladderReport(recordOf(steps, wanted));
    return [nextStep.sentence, ...nextStep.actions].map((text) => formatText(text)).join(" ");
  };

  it("has no window, is offered an easier kind of question, and leaves nothing to resume", () => {
    const record = recordOf([run(4096, 1, 5)]);
    const report = ladderReport(record);
    expect(report).toMatchObject({ pass: false, window: {}, nextStep: { outcome: "weakAtAnyLength" } });
    expect(report.nextStep.verifiedTokens).toBeUndefined();
    expect(isResumable(shownLadder("1", record))).toBe(false);
    expect(said(record.steps)).toMatch(/no window\. .*question: line/);
    expect(measuredLimits(record).recalledTokens).toBe(0);
    const line = { ...plan, canaries: { ...plan.canaries, question: "line" as const } };
    expect(said(record.steps, line)).toMatch(/distractors: false/);
  });

  it("that gave no answer is asked no longer prompts either, unless no recall is declared", () => {
    const { canaries: _, ...silent } = stepOf(4096, 1, [], { invalid: "answerCut" });
    expect(endsAtBase(recordOf([silent]))).toBe(true);
    expect(said([silent])).toMatch(/no length can be judged: the answer was cut off.*question: line/);
    const capacity = { ...plan, criteria: { ...plan.criteria, perRun: 0, pooled: 0 } };
    expect(endsAtBase(recordOf([silent], capacity))).toBe(false);
  });

  it("has no window either where its base score is low by a whole ladder only", () => {
    const steps = [run(4096, 1, 16), run(8192, 1, 8, 10), ...thrice(target, [12, 13, 12])];
    expect(ladderReport(recordOf(steps)).window).toEqual({});
    expect(said(steps)).toMatch(/80 % at 4,096 tokens already/);
  });
});

describe("the window", () => {
  const good = [...thrice(4096, [20, 20, 20]), run(8192, 1, 10, 10), ...thrice(16_384, [20, 19, 20])];

  it("is verified only where the runs were repeated as declared", () => {
    const failed = [...good, ...thrice(target, [5, 6, 5])];
    expect(ladderReport(recordOf(failed, repeated)).window).toMatchObject({
      verifiedTokens: 16_384,
      sufficientTokens: 16_384,
      certainTokens: 16_384,
      shortTokens: target,
    });
    const once = failed.filter(({ tokens, run }) => tokens !== 16_384 || run === 1);
    const { window } = ladderReport(recordOf(once, repeated));
    expect(window).toMatchObject({ sufficientTokens: 16_384 });
    expect(window.verifiedTokens).toBeUndefined();
    const needs = { use: "summary" as const, ...usualNeeds.summary, promptTokens: 60_000 };
    const words = (steps: readonly LadderStep[]): string =>
      formatText(recommendContext(needs, measuredLimits(recordOf(steps, repeated))).sentence);
    expect(words(failed)).toMatch(/recall was verified to 16,384/);
    expect(words(once)).toMatch(/sufficient to 16,384 tokens but not verified with repetitions/);
  });

  it("of the same plan run twice is the same within what is called certain", () => {
    const random = new LadderRandom("3", "windows", "");
    const recall: Readonly<Record<number, number>> = { 4096: 0.98, 8192: 0.97, 16_384: 0.9, [target]: 0.6 };
    const answered = (tokens: number, number: number, of: number): LadderStep =>
      stepOf(
        tokens,
        number,
        Array.from({ length: of }, () => (random.next() < (recall[tokens] ?? 0) ? "correct" : "missing")),
      );
    const ladder = (): RecallWindow =>
      ladderReport(
        recordOf(
          [1, 2, 3]
            .flatMap((number) => [
              answered(4096, number, 20),
              ...(number === 1 ? [answered(8192, 1, 10)] : []),
              answered(16_384, number, 20),
              answered(target, number, 20),
            ])
            .toSorted((a, b) => a.tokens - b.tokens),
          repeated,
        ),
      ).window;
    const contradict = (one: RecallWindow, other: RecallWindow): boolean =>
      (one.certainTokens ?? 0) >= (other.shortTokens ?? Infinity);
    const windows = Array.from({ length: 200 }, ladder);
    const pairs = windows.slice(1).map((window, i) => [windows[i] ?? {}, window] as const);
    const disagree = pairs.filter(([one, other]) => contradict(one, other) || contradict(other, one));
    expect(disagree.length / pairs.length).toBeLessThan(0.1);
    // and it is not silence that makes them agree
    expect(windows.filter(({ shortTokens }) => shortTokens !== undefined).length).toBeGreaterThan(150);
  });
});
