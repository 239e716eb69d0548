import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
  canariesAt,
  criteriaText,
  planIdentity,
  positionsAt,
} from "../../../../../src/core/ladder/plan/plan";
import { plannedSteps } from "../../../../../src/core/ladder/score/steps";
import { checkFits } from "../../../../../src/core/ladder/score/feasibility";
import { planTextFor } from "../../../../../src/core/ladder/plan/planText";
import { UserError } from "../../../../../src/core/userError";
import { parsePlan } from "../../../../../src/core/ladder/plan/parsePlan";
import { planProblem } from "../../../../../src/core/ladder/plan/planProblem";
import { repository } from "../../../../support/repository";

const good = `
rungs: [8K, 32K, 64K]
criteria: { perRun: 18, pooled: 56 }
`;

function problem(text: string): string {
  try {
    parsePlan(text);
  } catch (error) {
    if (error instanceof UserError) return `${error.reason}: ${error.message}`;
    throw error;
  }
  throw new Error("was accepted");
}

describe("a plan file", () => {
  it("is a typed plan with defaults for what it leaves out", () => {
    const plan = parsePlan(good);
    expect(plan.rungs).toEqual([8192, 32_768, 65_536]);
    expect(plan.baseTokens).toBe(4096);
    expect(plan.repetitions).toBe(3);
    expect(plan.canaries).toEqual({ target: 20, other: 10, distractors: true });
    expect(plan.criteria).toMatchObject({ perRun: 18, pooled: 56, constraints: 3, monitor: "stated" });
    expect(positionsAt(plan, 65_536)).toHaveLength(20);
    expect(positionsAt(plan, 32_768)[0]).toBe(0.1);
    expect(positionsAt(plan, 32_768).at(-1)).toBeCloseTo(0.9, 9);
  });

  it("runs what is repeated as often as the target, cold, and asks as much of it", () => {
    const plan = parsePlan(`${good}repeated: [4K, 32K]\ncanaries: { question: line }\n`);
    expect(plan.constraints).toBe(false);
    expect(
      plannedSteps(plan).map(
        ({ tokens, run, purpose }) => `${run} ${purpose} ${tokens} ${canariesAt(plan, tokens)}`,
      ),
    ).toEqual([
      ...["1 base 4096 20", "1 curve 8192 10", "1 curve 32768 20", "1 target 65536 20"],
      ...[2, 3].flatMap((run) => [`${run} base 4096 20`, `${run} curve 32768 20`, `${run} target 65536 20`]),
    ]);
    expect(criteriaText(plan)).not.toBe(criteriaText(parsePlan(good)));
  });

  it("has the same identity whatever the order of its fields, and another with another criterion", () => {
    const turned = parsePlan("criteria: { pooled: 56, perRun: 18 }\nrungs: [8192, 32768, 65536]\n");
    expect(planIdentity(turned)).toBe(planIdentity(parsePlan(good)));
    const looser = parsePlan(good.replace("56", "55"));
    expect(criteriaText(looser)).not.toBe(criteriaText(turned));
  });

  it("reads seeds of 64 bits and thinking: off, whatever YAML makes of the word", () => {
    const plan = parsePlan(`${good}seed: 18446744073709551615\nthinking: off\n`);
    expect(plan.seed).toBe("18446744073709551615");
    expect(plan.thinking).toBe("off");
    expect(problem(`${good}seed: 18446744073709551616\n`)).toMatch(/Line 4, seed/);
  });

  it.each([
    ["no end of lists", "- ".repeat(50_000), /nested too deeply/],
    ["no end of keys", "? ".repeat(50_000), /nested too deeply/],
    ["no end of brackets", "[".repeat(50_000), /nested too deeply/],
    ["no criteria", "rungs: [8K]\n", /Line 1, criteria: .*declared before.*perRun/],
    ["half of the criteria", "rungs: [8K]\ncriteria:\n  perRun: 18\n", /criteria\.pooled: .*missing/],
    ["no rungs", "criteria: {perRun: 1, pooled: 3}\n", /rungs: the plan has no rungs.*\[8K, 32K, 64K\]/],
    ["rungs that do not grow", good.replace("64K", "32K"), /Line 2, rungs: .*32,768 follows 32,768/],
    ["a rung too short for its canaries", good.replace("8K", "600"), /Line 2, (rungs|baseTokens)/],
    ["positions that overlap", `${good}canaries: {target: 3, positions: [10, 50, 50]}\n`, /overlap/],
    [
      "positions too near for the tokens",
      "rungs: [2K]\nbaseTokens: 1K\ncanaries: {target: 2, other: 2, positions: [50, 51]}\ncriteria: {perRun: 2, pooled: 6}\n",
      /overlap/,
    ],
    ["more recalled than asked", good.replace("56", "61"), /criteria\.pooled: 61 .*only 60 are asked/],
    ["a word for a number", good.replace("8K", "many"), /rungs\[0\]: this must be a whole number/],
    ["a misspelt field", good.replace("rungs", "rung"), /Line 2, rung: .*Did you mean rungs/],
    ["a field twice", `${good}rungs: [9K]\n`, /Line 4, rungs: .*twice/],
    [
      "a criterion nobody measures",
      good.replace("perRun", "taste"),
      /criteria\.taste: there is no such field/,
    ],
    [
      "constraints wanted but not asked",
      `${good.replace("56", "56, constraints: 2")}constraints: false\n`,
      /constraints/,
    ],
    ["broken YAML", "rungs: [8K\ncriteria: {", /Line \d+, plan: this is not YAML/],
    ["an empty file", "", /Line 1, plan: the file is empty/],
    ["a list", "- a\n- b\n", /must have fields, not a list/],
    [
      "a base as long as the rung",
      `${good}baseTokens: 8K\n`,
      /Line 4, baseTokens: .*shorter than the first rung/,
    ],
    ["a repeated length that is none", `${good}repeated: [16K]\n`, /Line 4, repeated: 16,384 is no length/],
    [
      "rules where lines are only completed",
      `${good}constraints: true\ncanaries: { question: line }\n`,
      /Line 4, constraints: .*no code/,
    ],
    ["aliases", "a: &x [1]\nrungs: *x\n", /plan|rungs/],
  ])("with %s is refused with line, field and remedy", (_, text, message) => {
    expect(problem(text)).toMatch(message);
    expect(problem(text)).toMatch(/^invalidInput: Line \d+, /);
  });
});

describe("the plan printed for a server", () => {
  const server = (nCtxPerSlot: number) => ({
    url: "http://127.0.0.1:9931",
    role: "single" as const,
    model: { id: "m.gguf" },
    nCtxPerSlot,
    totalSlots: 1,
    sleeping: false,
    hasVision: false,
  });

  it.each([2048, 2304, 4096, 5120, 8192, 9216, 9472, 16_384, 32_768, 65_536, 131_072, 1_048_576])(
    "is one that can be carried out with a context of %i",
    (context) => {
      const plan = parsePlan(planTextFor(server(context)));
      expect(() => checkFits(plan, server(context))).not.toThrow();
      // an eighth is reserved for the answer, and rungs are multiples of 256
      const last = plan.rungs.at(-1) ?? 0;
      expect(last).toBeGreaterThanOrEqual(Math.min(126 * 1024, (context * 7) / 8 - 256));
    },
  );

  it("is refused where a request holds too little", () => {
    expect(() => planTextFor(server(512))).toThrow(/only 512 tokens/);
  });
});

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly oneOf?: readonly Schema[];
}
interface Contributions {
  readonly jsonValidation: readonly { readonly fileMatch: string; readonly url: string }[];
  readonly yamlValidation: readonly { readonly fileMatch: readonly string[]; readonly url: string }[];
}

describe("the plan's schema in the editor", () => {
  const read = (name: string): unknown => JSON.parse(readFileSync(path.join(repository, name), "utf8"));
  const schema = read("media/schemas/ladder.schema.json") as Schema;
  const fieldsSaid = (text: string): readonly string[] =>
    (/(?:Fields here are|Use one of) (.+?)\.$/.exec(problem(text))?.[1] ?? "").split(", ");

  it.each([
    ["", schema, `${good}zzz: 1\n`],
    ["canaries", schema.properties["canaries"], `${good}canaries: { zzz: 1 }\n`],
    ["limits", schema.properties["limits"], `${good}limits: { zzz: 1 }\n`],
    ["criteria", schema.properties["criteria"], "rungs: [8K]\ncriteria: { zzz: 1 }\n"],
    ["filler", schema.properties["filler"]?.oneOf?.[1], `${good}filler: { zzz: 1 }\n`],
  ])("has the fields that the run knows: %s", (_, part, text) => {
    expect(Object.keys(part?.properties ?? {}).toSorted()).toEqual(fieldsSaid(text).toSorted());
  });

  it("is contributed for JSON and YAML", () => {
    const { contributes } = read("package.json") as { readonly contributes: Contributions };
    const all = [...contributes.jsonValidation, ...contributes.yamlValidation];
    expect(all.map(({ fileMatch }) => fileMatch).flat()).toEqual([
      "*.ladder.json",
      "*.ladder.yaml",
      "*.ladder.yml",
    ]);
    for (const { url } of all) expect(existsSync(path.join(repository, url))).toBe(true);
  });

  it("is no match for what only the run can tell: line and remedy of that are marked", () => {
    expect(planProblem(good)).toBeUndefined();
    expect(planProblem("rungs: [8K]\n\ncriteria:\n  perRun: 18\n  pooled: 99\n")).toMatchObject({
      line: 5,
      field: "criteria.pooled",
    });
  });
});
