import { describe, expect, it } from "vitest";
import { compare } from "../../../../src/core/bench/comparison";
import type {
  ComparisonAnswer,
  ComparisonArm,
  ComparisonResult,
} from "../../../../src/core/bench/comparison";
import { conclusionsOf } from "../../../../src/core/bench/payingDepth";
import { judgeDrift } from "../../../../src/core/bench/drift";
import { formatText } from "../../../../src/core/format";
import { SeededRandom } from "../../../support/seededRandom";
import { say } from "../../../../src/core/text";

const deep = 131072;

/** An arm by its speeds (tokens per second) at depth 0, 32K and 128K, as an article's tables give them. */
function arm(cacheTypeK: string, cacheTypeV: string, speeds: readonly (number | undefined)[]): ComparisonArm {
  const depths = [0, 32768, deep];
  return {
    settings: { cacheTypeK, cacheTypeV },
    costs: speeds.flatMap((speed, i) =>
      speed === undefined ? [] : [{ depth: depths[i] ?? 0, secondsPerToken: [1 / speed] }],
    ),
  };
}

function middle(answer: ComparisonAnswer): number {
  if (answer.kind !== "faster" && answer.kind !== "slower") throw new Error(formatText(answer.sentence));
  return ((answer.kind === "faster" ? 1 : -1) * (answer.lowPercent + answer.highPercent)) / 2;
}

/** Generation speeds of "128K: the wall was waiting time" (2026-09), in the order of the runs. */
describe("comparing KV cache types on the article's own runs", () => {
  const second = [
    arm("f16", "f16", [17.13, undefined, 9.9]),
    arm("f16", "q8_0", [17.71, undefined, 9.37]),
    arm("q8_0", "f16", [18.79, undefined, 11.51]),
    arm("q8_0", "q8_0", [18.72, undefined, 10.44]),
  ];

  it("gets from the drifted run what took the author two more runs: +6.1 %, not +16 %", () => {
    const [f16, , q8] = second;
    if (f16 === undefined || q8 === undefined) throw new Error();
    const answer = compare({ kind: "generation", arms: [f16, q8], depth: deep });
    expect(Math.abs(middle(answer) - 6.1)).toBeLessThan(2);
    expect(formatText(answer.notes[0] ?? say``)).toContain("drifted by 8.8 % at depth 0");
  });

  it("turns the sign of the drifted q8_0/q8_0 figure", () => {
    const [f16, , , both] = second;
    if (f16 === undefined || both === undefined) throw new Error();
    const answer = compare({ kind: "generation", arms: [f16, both], depth: deep });
    // The raw ratio says 5.5 % faster; two options changed at once.
    expect(answer.kind).not.toBe("faster");
    expect(answer.notes.map((note) => formatText(note)).join()).toContain("no single one");
  });

  it("computes nothing from a baseline that is slower empty than full, unless a second one closes the run", () => {
    // the article's first run: 9.61 at depth 0 and 14.67 at 32K
    const [first, other] = [arm("f16", "f16", [9.61, 14.67]), arm("q8_0", "f16", [17.45, 15.06])];
    const answer = compare({ kind: "generation", arms: [first, other], depth: 32_768 });
    expect(formatText(answer.sentence)).toMatch(/^Cannot be determined.*slower than at depth 32,768/);
    const arms = [first, other, arm("f16", "f16", [17.2, 14.79])];
    expect(compare({ kind: "generation", arms, depth: 32_768 }).kind).not.toBe("cannotJudge");
  });

  it("agrees with the sandwich of the fourth run: faster at 128K, no difference at 32K", () => {
    const arms = [
      arm("f16", "f16", [17.16, 14.75, 9.65]),
      arm("q8_0", "f16", [17.45, 15.06, 10.75]),
      arm("f16", "f16", [17.59, 14.79, 9.79]),
    ];
    const at128K = compare({ kind: "generation", arms, depth: deep });
    expect(at128K.kind).toBe("faster");
    expect(middle(at128K)).toBeCloseTo(10.6, 0);
    const at32K = compare({ kind: "generation", arms, depth: 32768, threshold: 0.03 });
    expect(at32K.kind).toBe("noDifference");
  });
});

describe("earlier runs of the same comparison", () => {
  const day = 86_400_000;
  const arms = [
    arm("f16", "f16", [17.16, 14.75, 9.65]),
    arm("q8_0", "f16", [17.45, 15.06, 10.75]),
    arm("f16", "f16", [17.59, 14.79, 9.79]),
  ];
  const asked = (depth: number, ...changes: readonly number[]): ComparisonAnswer =>
    compare({
      ...{ kind: "generation", arms, depth, at: 20 * day },
      earlier: changes.map((change, i) => ({ at: i * day, change })),
    });

  it("take 2 % at 32K, which were -3.5 % on another day, for no difference", () => {
    // also without them: one run says nothing of so little
    expect(asked(32_768).kind).toBe("noDifference");
    expect(
      asked(32_768)
        .notes.map((note) => formatText(note))
        .join(" "),
    ).toMatch(/another day/);
    const both = asked(32_768, -0.035);
    expect(both.kind).toBe("noDifference");
    expect(both.notes.map((note) => formatText(note)).join(" ")).toMatch(/1 earlier run: -3\.5 %/);
  });

  it("leave of 128K what the article says: 6 to 11 % faster", () => {
    const answer = asked(deep, 0.061);
    if (answer.kind !== "faster") throw new Error(formatText(answer.sentence));
    expect(middle(answer)).toBeCloseTo((6.1 + 10.6) / 2, 0);
    expect(answer.lowPercent).toBeGreaterThan(4);
    expect(answer.highPercent).toBeLessThan(13);
  });

  it("let a small difference be called one that every day shows", () => {
    expect(asked(32_768, 0.021, 0.019, 0.02, 0.022, 0.02, 0.018, 0.02, 0.021).kind).toBe("faster");
  });
});

describe("the depth from which another setting pays", () => {
  const result = (depth: number, kind: "faster" | "noDifference"): ComparisonResult => {
    const answer = { kind, lowPercent: 6, highPercent: 11, withinPercent: 3, sentence: say``, notes: [] };
    return {
      option: "-ctk",
      values: ["f16", "q8_0"],
      depth,
      threshold: 0.01,
      prefill: answer,
      generation: answer,
    };
  };
  const told = (...results: readonly ComparisonResult[]): string =>
    conclusionsOf(results)
      .flatMap(({ sentences }) => sentences.map((sentence) => formatText(sentence)))
      .join("; ");

  it("is the first behind which it is always faster", () => {
    expect(told(result(32_768, "noDifference"), result(deep, "faster"))).toBe(
      "Prefill: faster from depth 131,072 on, not yet at 32,768.; Generation: faster from depth 131,072 on, not yet at 32,768.",
    );
    expect(told(result(deep, "noDifference"), result(32_768, "faster"))).toMatch(/not at the deepest one/);
    expect(told(result(deep, "noDifference"), result(32_768, "noDifference"))).toMatch(/not faster at any/);
    expect(told(result(deep, "faster"))).toBe("");
  });
});

describe("what cannot be judged", () => {
  const a: ComparisonArm = {
    settings: { ubatch: "512" },
    costs: [{ depth: 0, secondsPerToken: [1, 1.001] }],
  };
  const b: ComparisonArm = {
    settings: { ubatch: "1024" },
    costs: [{ depth: 0, secondsPerToken: [0.8, 0.802] }],
  };
  const scaled = (one: ComparisonArm, by: number): ComparisonArm => ({
    ...one,
    costs: one.costs.map((c) => ({ ...c, secondsPerToken: c.secondsPerToken.map((s) => s * by) })),
  });

  it("is a baseline that moved by more than 6 %", () => {
    const answer = compare({ kind: "prefill", arms: [a, b, scaled(a, 1.08)], depth: 0 });
    expect(answer.kind).toBe("cannotJudge");
  });

  it("is a disturbed machine, with the reason", () => {
    const answer = compare({
      kind: "prefill",
      arms: [a, b, a],
      depth: 0,
      disturbed: say`tar used 40 % of the CPU`,
    });
    expect(formatText(answer.sentence)).toContain("tar used 40 %");
  });

  it("is a setting that gives other answers, however fast", () => {
    const told = (more: object): readonly string[] =>
      compare({ kind: "prefill", arms: [a, b, a], depth: 0, ...more }).notes.map((note) => formatText(note));
    expect(told({ unchecked: true })).toContain("Whether the answers stay the same was not checked.");
    expect(told({ agreement: { agreed: 60, of: 64 } })).toContain(
      "60 of 64 tokens of greedy answers are the same.",
    );
    const agreement = { agreed: 3, of: 64 };
    expect(compare({ kind: "prefill", arms: [a, b, a], depth: 0, agreement }).kind).toBe("cannotJudge");
    expect(
      compare({ kind: "prefill", arms: [a, b, a], depth: 0, agreement: { agreed: 60, of: 64 } }).kind,
    ).toBe("faster");
  });

  it("corrects a small drift in time and names it", () => {
    const answer = compare({ kind: "prefill", arms: [a, b, scaled(a, 1.04)], depth: 0 });
    expect(middle(answer)).toBeCloseTo(100 * (1.02 / 0.8 - 1), 0);
    expect(answer.notes).toHaveLength(1);
  });

  it("widens what a baseline without a second run can say", () => {
    const answer = compare({ kind: "prefill", arms: [a, scaled(b, 1.2)], depth: 0 });
    expect(answer.kind).toBe("noDifference");
  });
});

describe("drift between two runs of the same thing", () => {
  it.each([
    [17.16, 17.59, "generation", "stable"],
    [100, 102.5, "prefill", "drift"],
    [100, 102.5, "generation", "stable"],
    [100, 93, "generation", "invalid"],
    [0, 1, "prefill", "invalid"],
  ] as const)("%d then %d (%s): %s", (first, last, kind, expected) => {
    expect(judgeDrift(first, last, kind).kind).toBe(expected);
  });
});

describe("two repeats of each arm", () => {
  /** Twice the same setting, every repeat off by up to 3.5 % (uniform, standard deviation 2 %). */
  it("that differ by noise alone are called different at most one time in twenty", () => {
    const random = new SeededRandom(3);
    const noisy = (): number => 1 + (0.07 * (random.below(1e6) - 5e5)) / 1e6;
    const noisyArm = (cacheTypeK: string): ComparisonArm => ({
      settings: { cacheTypeK },
      costs: [{ depth: 4096, secondsPerToken: [noisy(), noisy()] }],
    });
    const tries = Array.from({ length: 600 }, () => {
      const arms = [noisyArm("f16"), noisyArm("q8_0"), noisyArm("f16")];
      return compare({ kind: "prefill", arms, depth: 4096 }).kind;
    });
    const called = tries.filter((kind) => kind === "faster" || kind === "slower").length;
    expect(called / tries.length).toBeLessThanOrEqual(0.05);
    expect(called).toBeGreaterThan(0);
  });
});
