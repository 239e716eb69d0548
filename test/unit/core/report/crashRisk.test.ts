import { describe, expect, it } from "vitest";
import { formatText } from "../../../../src/core/format";
import { crashRiskText, riskyFiles } from "../../../../src/core/report/crashRisk";
import { sampleFiles, sampleReport } from "../../../support/sampleReports";

const [first, second, third] = sampleFiles;
if (first === undefined || second === undefined || third === undefined) throw new Error("too few samples");
const longRun = { line: 1204, length: 25_000 };
const report = sampleReport();
const risky = {
  ...report,
  tokens: { ...report.tokens, files: [first, { ...second, longRun }, { ...third, longRun }] },
};

describe("files that may crash the server they are sent to", () => {
  it("are those of the prompt that hold a long run", () => {
    expect(riskyFiles(report)).toEqual([]);
    expect(riskyFiles(risky).map(({ file }) => file)).toEqual([second.file, third.file]);
    const left = riskyFiles({ ...risky, leftOut: [second.file.path] });
    expect(left.map(({ file }) => file)).toEqual([third.file]);
  });

  it("are named with the place and the length of the run", () => {
    const [file] = riskyFiles(risky);
    if (file === undefined) throw new Error("none");
    expect(formatText(crashRiskText(file))).toContain(`${second.file.label}, line 1204: 25,000 characters`);
  });
});
