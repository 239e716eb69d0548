import { describe, expect, it } from "vitest";
import { dropToFit, type DropCandidate } from "../../../../src/core/tokens/dropToFit";
import { worthOf } from "../../../../src/core/files/fileKinds";
import { growth } from "../../../support/growth";
import { SeededRandom } from "../../../support/seededRandom";

const candidate = (label: string, tokens: number, kind?: DropCandidate["kind"]): DropCandidate => ({
  label,
  tokens,
  ...(kind !== undefined && { kind }),
});

const sum = (files: readonly DropCandidate[]): number =>
  files.reduce((total, { tokens }) => total + tokens, 0);

function dropped(files: readonly DropCandidate[], excess: number): readonly DropCandidate[] {
  const plan = dropToFit(files, 1_000_000 + excess, 1_000_000);
  if (plan.kind !== "drop") throw new Error(plan.kind);
  expect(plan.tokensDropped).toBe(sum(plan.files));
  expect(plan.tokensLeft).toBe(1_000_000 + excess - plan.tokensDropped);
  expect(plan.tokensDropped).toBeGreaterThanOrEqual(excess);
  expect(new Set(plan.files).size).toBe(plan.files.length);
  return plan.files;
}

describe("dropToFit", () => {
  it("has nothing to do where everything fits, to the token", () => {
    expect(dropToFit([candidate("a", 5)], 100, 100)).toEqual({ kind: "fits" });
  });

  it("says so where even without the files it would not fit", () => {
    const plan = dropToFit([candidate("a", 5), candidate("b", 7)], 100, 80);
    expect(plan).toEqual({ kind: "impossible", tokensLeft: 88 });
  });

  it("takes lock files and generated code before anything written by hand", () => {
    const files = [
      candidate("main.ts", 900),
      candidate("package-lock.json", 5000, "lock"),
      candidate("api.pb.go", 700, "generated"),
      candidate("a.test.ts", 300, "test"),
    ];
    expect(dropped(files, 800).map(({ label }) => label)).toEqual(["package-lock.json"]);
    expect(dropped(files, 5600).map(({ label }) => label)).toEqual(["package-lock.json", "api.pb.go"]);
    expect(dropped(files, 5900).map(({ label }) => label)).toEqual([
      "package-lock.json",
      "api.pb.go",
      "a.test.ts",
    ]);
  });

  it("equals trying every choice, over random small folders", () => {
    const random = new SeededRandom(7);
    for (let round = 0; round < 300; round++) {
      const files = Array.from({ length: 1 + random.below(9) }, (_, at) =>
        candidate(`f${at}`, 1 + random.below(60)),
      );
      const excess = 1 + random.below(sum(files));
      const choices = Array.from({ length: 2 ** files.length }, (_, bits) =>
        files.filter((_, at) => (bits >> at) & 1),
      ).filter((choice) => sum(choice) >= excess);
      expect(sum(dropped(files, excess))).toBe(Math.min(...choices.map(sum)));
    }
  });

  it("never drops a file of more worth while those of less would free enough", () => {
    const random = new SeededRandom(8);
    const kinds = ["lock", "generated", "data", "test", undefined] as const;
    for (let round = 0; round < 200; round++) {
      const files = Array.from({ length: 30 }, (_, at) =>
        candidate(`f${at}`, 1 + random.below(500), random.pick(kinds)),
      );
      const excess = 1 + random.below(sum(files));
      const most = Math.max(...dropped(files, excess).map(({ kind }) => worthOf(kind)));
      expect(sum(files.filter(({ kind }) => worthOf(kind) < most))).toBeLessThan(excess);
    }
  });

  it("answers for 50 000 files at once, close to what is needed", () => {
    const random = new SeededRandom(9);
    const filesOf = (count: number): ReturnType<typeof candidate>[] =>
      Array.from({ length: count }, (_, at) => candidate(`f${at}`, 1 + random.below(4000)));
    const drop = (files: ReturnType<typeof candidate>[]): void => {
      const excess = 1000 * files.length;
      expect(sum(dropped(files, excess)) - excess).toBeLessThan(100);
    };
    expect(growth(filesOf, drop, 50_000)).toBeLessThan(4);
  });
});
