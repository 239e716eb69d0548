import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { tensorOverrides } from "../../../../../src/core/memory/overrides/tensorOverrides";
import { memoryBudget } from "../../../../../src/core/memory/budget/memoryBudget";
import { modelOf } from "../../../../../src/core/model/modelOf";
import type { TensorSizes } from "../../../../../src/core/model/tensorSizes";
import { growth } from "../../../../support/growth";
import { headerOf } from "../fixtures";

interface Answers {
  readonly names: readonly string[];
  /** "invalid", or which of the names it moved. */
  readonly patterns: Readonly<Record<string, string>>;
}

const file = path.join(import.meta.dirname, "../../../../fixtures/memory/overridePatterns.json");
const { names, patterns } = JSON.parse(readFileSync(file, "utf8")) as Answers;

/** A model with tensors of these names. */
function sizesOf(tensors: readonly string[]): TensorSizes {
  const header = headerOf({ "general.architecture": "llama", "llama.block_count": 2 });
  return modelOf({
    ...header,
    tensors: tensors.map((name) => ({ name, shape: [1024, 1024], type: 0, bytes: 4 * 2 ** 20 })),
  }).tensors;
}

function answer(pattern: string, sizes = sizesOf(names)): string {
  const { of, problems } = tensorOverrides(sizes, { overrideTensor: [{ pattern, buffer: "CPU" }] });
  return problems[0]?.problem ?? sizes.all.map((_, i) => (of(i) === undefined ? 0 : 1)).join("");
}

/** Read there, and said to be unknown here. */
const notEvaluated: ReadonlyMap<string, string> = new Map([
  ["(b)\\1", "backReference"],
  ["\\1", "backReference"],
  ["e{1001}", "tooLarge"],
  ["[[.-.]]", "collation"],
  ["[[.a.]]", "collation"],
  ["[[.hyphen.]]", "collation"],
  ["[[.period.]]", "collation"],
  ["[[.w.]x]", "collation"],
  ["[a-[.c.]]", "collation"],
  ["[[=a=]]", "collation"],
  ["[[=a=]b]", "collation"],
  ["[[=.=]]", "collation"],
]);

describe("the patterns of -ot", () => {
  it("move what they moved in the real llama.cpp (b11669), or are said not to be evaluated", () => {
    const all = Object.entries(patterns);
    expect(all.length).toBeGreaterThan(130);
    const ours = Object.fromEntries(all.map(([pattern]) => [pattern, answer(pattern)]));
    const theirs = all.map(([pattern, real]) => [pattern, notEvaluated.get(pattern) ?? real]);
    expect(ours).toEqual(Object.fromEntries(theirs));
  });

  it("count the bytes of other alphabets", () => {
    // "é" is two bytes
    const sizes = sizesOf(["blk.0.é"]);
    expect(answer("0\\...$", sizes)).toBe("1");
    expect(answer("0\\..$", sizes)).toBe("0");
  });

  it("the first that names a tensor counts", () => {
    const overrideTensor = [
      { pattern: "attn", buffer: "CPU" },
      { pattern: "blk", buffer: "CUDA1" },
    ];
    const { of } = tensorOverrides(sizesOf(names), { overrideTensor });
    expect(names.map((_, i) => of(i)?.buffer)).toEqual([
      undefined,
      undefined,
      "CPU",
      "CPU",
      "CUDA1",
      "CUDA1",
    ]);
  });

  // a search that goes back tries these 2^n and n^6 times
  it.each(["(a+)+$", "(a|a)*$", "(.*)(.*)(.*)(.*)(.*)(.*)!!"])(
    "%s takes time that grows with the name",
    (pattern) => {
      const inputOf = (size: number): TensorSizes => sizesOf([`${"a".repeat(size)}!`]);
      expect(growth(inputOf, (sizes) => answer(pattern, { ...sizes }), 4000)).toBeLessThan(3);
    },
  );

  it("takes no longer for looks within looks", () => {
    const pattern = `${"(?!.*".repeat(40)}x${")".repeat(40)}`;
    expect(answer(pattern, sizesOf(["a".repeat(60)]))).toMatch(/^[01]$|tooLarge/);
  });

  it.each([
    ["a list of patterns without end", Array.from({ length: 400_000 }, (_, i) => `x+y+z+${i}`)],
    ["one that counts to a million", ["(a{1000}){1000}"]],
    ["groups in groups", ["(".repeat(5000) + ")".repeat(5000)]],
    ["quantifiers on quantifiers", [`a${"?".repeat(5000)}`]],
  ])("%s is given up", (_, list) => {
    const overrideTensor = list.map((pattern) => ({ pattern, buffer: "CPU" }));
    const { problems } = tensorOverrides(sizesOf(names), { overrideTensor });
    expect(problems[problems.length - 1]?.problem).toBe("tooLarge");
  });

  it("are named in the report where they are not evaluated", () => {
    const model = modelOf(headerOf({ "general.architecture": "llama", "llama.block_count": 2 }));
    const warned = (pattern: string): readonly string[] =>
      memoryBudget(model, { overrideTensor: [{ pattern, buffer: "CPU" }] }, [])
        .warnings.filter(({ message }) => message.args.includes(pattern))
        .map(({ code }) => code);
    expect(warned("(b)\\1")).toEqual(["overrideNotEvaluated"]);
    expect(warned("(b")).toEqual(["overrideInvalid"]);
    expect(warned("blk.*exps")).toEqual([]);
  });
});
