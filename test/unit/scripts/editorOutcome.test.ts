import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { repository } from "../../support/repository";

interface Run {
  readonly files: Readonly<
    Record<
      string,
      { readonly passed: number; readonly skipped: number; readonly failures: readonly Failure[] }
    >
  >;
  readonly problem?: string;
}
interface Failure {
  readonly test: string;
  readonly message: string;
}
type EditorOutcome = (
  run: (files?: string) => Promise<Run>,
  say: (line: string) => void,
) => Promise<{ readonly passed: number; readonly failed: number; readonly retried?: readonly string[] }>;

const script = pathToFileURL(path.join(repository, "scripts/editorOutcome.mjs")).href;
const { editorOutcome } = (await import(script)) as { readonly editorOutcome: EditorOutcome };

const good = { passed: 3, skipped: 1, failures: [] };
const bad = { passed: 2, skipped: 1, failures: [{ test: "opens", message: "Error: it did not" }] };
const problem = "1 tests failed";

/** The outcome where VS Code does this, one run after the other, with what it was asked for and what was said. */
async function outcomeOf(...runs: readonly Run[]) {
  const asked: (string | undefined)[] = [];
  const said: string[] = [];
  const run = (files?: string): Promise<Run> => {
    const next = runs[asked.push(files) - 1];
    return next === undefined ? Promise.reject(new Error("once more")) : Promise.resolve(next);
  };
  return { ...(await editorOutcome(run, (line) => said.push(line))), asked, said };
}

describe("what a suite in the extension host has found", () => {
  it("is the sum of its files, in one run where nothing failed", async () => {
    const outcome = await outcomeOf({ files: { one: good, two: good } });
    expect(outcome).toMatchObject({ passed: 6, failed: 0, skipped: 2, asked: [undefined], said: [] });
  });

  it("counts what fails twice as failed, and only that", async () => {
    const outcome = await outcomeOf(
      { files: { one: good, two: bad, three: bad }, problem },
      { files: { two: bad, three: good }, problem },
    );
    expect(outcome).toMatchObject({ passed: 8, failed: 1, skipped: 3, failures: bad.failures });
    expect(outcome.asked).toEqual([undefined, "two,three"]);
    expect(outcome.retried).toEqual(["three > opens"]);
    expect(outcome.said).toEqual(["Once more, in a fresh VS Code: two, three"]);
  });

  it("is good where the second try is, and says which tests needed it", async () => {
    const outcome = await outcomeOf({ files: { one: good, two: bad }, problem }, { files: { two: good } });
    expect(outcome).toMatchObject({ passed: 6, failed: 0, retried: ["two > opens"] });
  });

  it.each<readonly [string, Run]>([
    ["the extension host crashed behind good tests", { files: { one: good }, problem: "crashed" }],
    ["there is no report", { files: {}, problem: "the suite left no report" }],
    ["no test ran", { files: {} }],
    ["all were skipped", { files: { one: { ...good, passed: 0 } } }],
  ])("has failed where %s", async (_, run) => {
    expect(await outcomeOf(run)).toMatchObject({ failed: 1, asked: [undefined] });
  });

  it("has failed where the second try ends badly", async () => {
    const outcome = await outcomeOf({ files: { two: bad }, problem }, { files: {}, problem: "crashed" });
    expect(outcome).toMatchObject({ failed: 1, retried: [] });
    const crashed = await outcomeOf(
      { files: { two: bad }, problem },
      { files: { two: good }, problem: "crashed" },
    );
    expect(crashed).toMatchObject({ failed: 1 });
  });
});
