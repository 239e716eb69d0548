import { describe, expect, it } from "vitest";
import { checkConstraints, type ConstraintSet } from "../../../../../src/core/ladder/prompt/constraints";
import { makeCanaries } from "../../../../../src/core/ladder/prompt/canaries";
import { LadderRandom } from "../../../../../src/core/ladder/prompt/ladderRandom";
import { valuePlaceholder } from "../../../../../src/core/ladder/prompt/question";
import { readAnswer } from "../../../../../src/core/ladder/score/readAnswer";
import { codeInvalid, invalidBecause, outcomeOf } from "../../../../../src/core/ladder/score/scoring";
import { growth } from "../../../../support/growth";

describe("canaries", () => {
  it("never share a key, a value or a word pair, and each twin swaps the digits", () => {
    const used = { pairs: new Set<string>(), values: new Set<string>() };
    const canaries = makeCanaries(100, true, new LadderRandom("1", "x"), used);
    const entries = canaries.flatMap((c) => [c, ...(c.twin ? [c.twin] : [])]);
    expect(new Set(entries.map((e) => e.key)).size).toBe(200);
    expect(new Set(entries.map((e) => e.value)).size).toBe(200);
    for (const { key, twin } of canaries) {
      const [, words = "", a = "", b = ""] = /^(.*-)(\d)(\d)$/.exec(key) ?? [];
      expect(twin?.key).toBe(`${words}${b}${a}`);
    }
  });
});

describe("an answer", () => {
  const keys = ["cedar-otter-17", "maple-heron-62"];
  it.each([
    ["JSON alone", '{"cedar-otter-17": "482917", "maple-heron-62": 134275}', true],
    [
      "JSON in a block, after words",
      'Sure:\n```json\n{"Cedar-Otter-17": "482917", "maple-heron-62": "134275"}\n```',
      false,
    ],
    [
      "JSON behind thinking",
      '<think>{"cedar-otter-17": "1"}</think>{"cedar-otter-17": "482917", "maple-heron-62": "134275"}',
      true,
    ],
    ["lines", "cedar-otter-17 = 482917\n- **maple-heron-62**: 134275.", false],
    ["an object for each key", '{"cedar-otter-17": "482917"}\n{"maple-heron-62": "134275"}', false],
    [
      "JSON before the empty form",
      '{"cedar-otter-17": "482917", "maple-heron-62": "134275"} {"cedar-otter-17": "000000"}',
      false,
    ],
    ["values in lists", '{"cedar-otter-17": ["482917"], "maple-heron-62": {"value": "134275"}}', true],
    ["an object around it", '{"entries": {"cedar-otter-17": "482917", "maple-heron-62": "134275"}}', false],
    ["other hyphens", '{"cedar\u2011otter\u201117": "482917", "maple\u2010heron\u201062": "134275"}', true],
    [
      "a table",
      "| key | value |\n|---|---|\n| cedar-otter-17 | 482917 |\n| maple-heron-62 | 134275 |",
      false,
    ],
    ["another language", "「cedar-otter-17」：「482917」、“maple-heron-62”: „134275“", false],
  ])("is read from %s", (_, text, clean) => {
    const read = readAnswer(text, keys);
    expect([...read.values]).toEqual([
      ["cedar-otter-17", "482917"],
      ["maple-heron-62", "134275"],
    ]);
    expect(read.clean).toBe(clean);
    expect(read.stillThinking).toBe(false);
  });

  it.each([
    'I cannot find "cedar-otter-17" in the notes.',
    "cedar-otter-17 is not in the notes; maple-heron-62: no entry",
    "",
  ])("that refuses has no values: %j", (text) => {
    expect(readAnswer(text, keys).values.size).toBe(0);
  });

  it("that is cut off in a later object is not complete", () => {
    expect(readAnswer('{"cedar-otter-17": "482917"}\n{"maple-her', keys).complete).toBe(false);
    expect(readAnswer('{"cedar-otter-17": "482917"} And so on, and so', keys).complete).toBe(true);
    expect(
      readAnswer('{"cedar-otter-17": "482917", "maple-heron-62": "134275"} if (x) {', keys).complete,
    ).toBe(true);
  });

  it("that never ends its thinking holds nothing", () => {
    const read = readAnswer(
      'so cedar-otter-17 = 482917 <think> {"cedar-otter-17": "482917"}',
      [keys[1] ?? ""],
      true,
    );
    expect(read.stillThinking).toBe(true);
    expect(read.values.size).toBe(0);
  });

  it("of hostile brackets and quotes ends soon", () => {
    for (const textOf of [
      (n: number) => "{".repeat(2 * n),
      (n: number) => '{"'.repeat(n),
      (n: number) => `${"{}".repeat(n / 2)}{"`,
      (n: number) => "a".repeat(n),
      (n: number) => "*".repeat(n),
    ]) {
      const times = growth(textOf, (text) => expect(readAnswer(text, keys).values.size).toBe(0), 100_000);
      expect(times).toBeLessThan(4);
    }
  });
});

describe("a value", () => {
  const canary = { key: "a-b-12", value: "482917", twin: { key: "a-b-21", value: "111222" } };
  const values = new Set(["482917", "111222", "333444"]);
  it.each([
    ["482917", "correct"],
    [" 482917 ", "correct"],
    ["111222", "twin"],
    ["333444", "other"],
    ["999999", "invented"],
    ["482,917", "correct"],
    ["482 917", "correct"],
    ["４８２９１７", "correct"],
    ["111.222", "twin"],
    [valuePlaceholder, "missing"],
    ["not found", "missing"],
    ["I do not know", "missing"],
    ["unknown", "missing"],
    ["", "missing"],
    [undefined, "missing"],
  ])("%j is %s", (answer, outcome) => {
    expect(outcomeOf(canary, answer, values)).toBe(outcome);
  });
});

describe("a run that cannot be scored", () => {
  const fine = {
    sentTokens: 100,
    evaluatedTokens: 100,
    text: "{}",
    stoppedByLimit: false,
    truncated: false,
    stillThinking: false,
    complete: true,
  };
  it.each([
    [{}, undefined],
    [{ evaluatedTokens: 60 }, "promptTruncated"],
    [{ truncated: true }, "promptTruncated"],
    [{ text: "  " }, "empty"],
    [{ stillThinking: true, stoppedByLimit: true }, "reasoningBudget"],
    [{ stoppedByLimit: true, complete: false }, "answerCut"],
    [{ stoppedByLimit: true }, undefined],
  ])("%j is %s", (change, reason) => {
    expect(invalidBecause({ ...fine, ...change })).toBe(reason);
  });
});

describe("code that cannot be judged", () => {
  const whole = "```js\nfunction nova_sum(values) { return { total: 1 }; }\n```";
  const fine = { text: whole, stillThinking: false, stoppedByLimit: false };
  it.each([
    [{}, undefined],
    [{ stoppedByLimit: true }, undefined],
    [{ stoppedByLimit: true, text: whole.slice(0, 30) }, "answerCut"],
    [{ stillThinking: true, text: "" }, "reasoningBudget"],
    [{ text: " " }, "empty"],
    [{ text: "I cannot." }, undefined],
  ])("%j is %s", (change, reason) => {
    expect(codeInvalid({ ...fine, ...change })).toBe(reason);
  });
});

describe("the coding constraints", () => {
  const set: ConstraintSet = { module: "ledger", prefix: "nova_", forbidden: "reduce", field: "total" };
  const kept = (code: string): readonly boolean[] => checkConstraints(set, code).map((c) => c.kept);
  it.each([
    [
      "all three",
      "```js\nfunction nova_sum(values) {\n  let t = 0;\n  for (const v of values) t += v;\n  return { total: t };\n}\n```",
      [true, true, true],
    ],
    [
      "an arrow function",
      "const nova_sum = (values) => {\n  let total = 0;\n  return { total };\n};",
      [true, true, true],
    ],
    [
      "an object over several lines",
      "function nova_sum(values) {\n  let t = 0;\n  return {\n    total: t,\n  };\n}",
      [true, true, true],
    ],
    ["another name", "function sum(values) { let t = 0; return { total: t }; }", [false, true, true]],
    [
      "the forbidden call",
      "function nova_sum(values) {\n  return { total: values.reduce((a, b) => a + b) };\n}",
      [true, false, true],
    ],
    ["a bare number", "function nova_sum(values) { let t = 0; return t; }", [true, true, false]],
    ["a second field", "function nova_sum(v) { return { total: 1, count: 2 }; }", [true, true, false]],
    [
      "the rule only in a comment",
      "// nova_ total\nfunction sum(v) { return 1; /* reduce( */ }",
      [false, true, false],
    ],
    ["no code", "I cannot do that.", [false, false, false]],
  ])("are judged with %s", (_, code, expected) => {
    expect(kept(code)).toEqual(expected);
  });
});
