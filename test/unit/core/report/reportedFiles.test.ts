import { describe, expect, it } from "vitest";
import { ReportedFiles, type FileChange } from "../../../../src/core/report/reportedFiles";
import { sampleReport } from "../../../support/sampleReports";

const root = "/home/ada/harbour";
const files = new ReportedFiles(sampleReport(), [root]);

describe("changes that concern a report", () => {
  it.each<[FileChange, string]>([
    ["changed", `${root}/README.md`],
    ["deleted", `${root}/src/server/slots.cpp`],
    ["deleted", `${root}/src/server`],
    ["created", `${root}/src/new.cpp`],
    ["changed", `${root}/.gitignore`],
    ["created", `${root}/src/.llamagaugeignore`],
  ])("%s %s", (change, path) => expect(files.concerns(path, change)).toBe(true));

  it.each<[FileChange, string]>([
    ["changed", `${root}/media/logo.png`],
    ["changed", `${root}/notes.txt`],
    ["created", `${root}/node_modules/left-pad/index.js`],
    ["changed", `${root}/node_modules/left-pad/index.js`],
    ["created", `${root}/.git/objects/ab/cdef`],
    ["created", "/home/ada/harbour-two/a.cpp"],
    ["changed", "/home/ada/.gitignore"],
    ["deleted", `${root}/empty`],
  ])("not %s %s", (change, path) => expect(files.concerns(path, change)).toBe(false));

  it("knows Windows paths", () => {
    const report = sampleReport();
    const [first] = report.tokens.files;
    if (first === undefined) throw new Error("no file");
    const file = { ...first.file, path: String.raw`c:\w\a.ts` };
    const skipped = [{ path: String.raw`c:\w\out`, label: "out", reason: "ignored", folder: true }] as const;
    const tokens = { ...report.tokens, files: [{ ...first, file }], skipped };
    const onWindows = new ReportedFiles({ ...report, tokens }, [String.raw`c:\w`]);
    expect(onWindows.concerns(String.raw`c:\w\b.ts`, "created")).toBe(true);
    expect(onWindows.concerns(String.raw`c:\w\out\b.js`, "created")).toBe(false);
    expect(onWindows.concerns(String.raw`c:\w2\b.ts`, "created")).toBe(false);
  });
});
