import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { repository } from "../../support/repository";
import { SeededRandom } from "../../support/seededRandom";

const script = pathToFileURL(path.join(repository, "scripts/shares.mjs")).href;
const { shares } = (await import(script)) as {
  shares: (
    files: readonly string[],
    count: number,
    times: Readonly<Record<string, number>>,
  ) => readonly (readonly string[])[];
};

describe("the shares of a test stage", () => {
  it("take about as long as each other", () => {
    const times = { long: 90, middle: 60, short: 30, shorter: 5, shortest: 4 };
    expect(shares(Object.keys(times), 2, times)).toEqual([
      ["long", "shorter"],
      ["middle", "short", "shortest"],
    ]);
  });

  it("have each file once, timed or not, and none is empty", () => {
    const random = new SeededRandom(1);
    for (let round = 0; round < 50; round++) {
      const files = Array.from({ length: 1 + random.below(12) }, (_, i) => `${i}.test.ts`);
      const timed = files.filter(() => random.below(2) === 0);
      const times = Object.fromEntries(timed.map((file) => [file, random.below(100)]));
      const cut = shares(files, 3, times);
      expect(cut.flat().toSorted()).toEqual(files.toSorted());
      expect(cut).toHaveLength(Math.min(3, files.length));
      expect(cut.map(({ length }) => length)).not.toContain(0);
    }
  });
});
