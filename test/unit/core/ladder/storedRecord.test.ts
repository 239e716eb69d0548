import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { formatText } from "../../../../src/core/format";
import { ladderReport } from "../../../../src/core/ladder/report/ladderReport";
import { parseLadderLine, type LadderStep } from "../../../../src/core/ladder/score/record";

const file = path.join(import.meta.dirname, "../../../fixtures/ladder/forgets.jsonl");

it("a record stored by a real run is read back and judged", () => {
  const lines = readFileSync(file, "utf8").trim().split("\n").map(parseLadderLine);
  const [header] = lines;
  if (header?.kind !== "ladder") throw new Error("no header");
  const steps = lines.filter((line): line is LadderStep => line?.kind === "step");
  const report = ladderReport({ header, steps, warnings: [] });
  expect(report.pass).toBe(false);
  expect(report.rungs.map(({ tokens, recall }) => [tokens, recall?.correct, recall?.of])).toEqual([
    [768, 8, 8],
    [960, 6, 6],
    [1600, 3, 6],
    [2400, 8, 24],
  ]);
  expect(report.nextStep).toMatchObject({ outcome: "forgets", change: "length", verifiedTokens: 960 });
  expect(formatText(report.nextStep.sentence)).toMatch(/forgets the beginning/);
});
