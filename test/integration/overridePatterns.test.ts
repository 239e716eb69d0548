import { mkdtemp, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tensorOverrides } from "../../src/core/memory/overrides/tensorOverrides";
import type { Model } from "../../src/core/model/model";
import { modelOf } from "../../src/core/model/modelOf";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { runLlamaProgram } from "../support/llamaCpp";
import { SeededRandom } from "../support/seededRandom";

const seed = 17;
const patterns = 220;
/** A pattern llama.cpp itself tries in too many ways. */
const patience = 5000;

const pieces: readonly (readonly string[])[] = [
  "blktanfex_w01".split(""),
  ["\\.", "\\d", "\\w", "\\D", "\\W", "\\S", "\\s", "\\_", "\\-", "\\x62"],
  ["."],
  ["blk", "ffn", "attn", "exps", "gate", "weight", "norm", "out", "put"],
  [
    "[a-f]",
    "[^a-f]",
    "[[:alpha:]]",
    "[^[:digit:]]",
    "[\\w.]",
    "[0-9_]",
    "[-.]",
    "[.-]",
    "[]",
    "[^]",
    "[\\w-x]",
  ],
  ["^", "$", "\\b", "\\B"],
];
const quantifiers = ["*", "+", "?", "{1}", "{2}", "{0}", "*?", "+?", "??"];
const stray = ["{", "}", "]", ")", "(", "[", "*", "?", "\\"];

/** An expression of C++'s ECMAScript grammar, now and then a broken one; without `,` and `=`, which end a pattern. */
function generated(random: SeededRandom, depth = 0): string {
  const branch = (): string => {
    const length = random.below(4) + (depth === 0 ? 1 : 0);
    return Array.from({ length }, () => term(random, depth)).join("");
  };
  return random.below(3) === 0 ? `${branch()}|${branch()}` : branch();
}

function term(random: SeededRandom, depth: number): string {
  const kind = random.below(depth > 2 ? pieces.length : pieces.length + 4);
  const own = pieces[kind];
  const atom =
    own === undefined
      ? `${random.pick(["(", "(", "(?:", "(?!"])}${generated(random, depth + 1)})`
      : random.pick(own);
  if (random.below(40) === 0) return atom + random.pick(stray);
  const asserts = /^(\^|\$|\\b|\\B|\(\?!)/i.test(atom);
  return random.below(asserts ? 30 : 3) === 0 ? atom + random.pick(quantifiers) : atom;
}

type Answer = readonly string[] | "invalid" | "too slow";

describe("patterns of -ot", () => {
  let folder: string;
  let file: string;
  let model: Model;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-patterns-"));
    await runLlamaProgram("test-llama-archs", ["-a", "olmoe", "-o", folder]);
    const [name = ""] = (await readdir(folder)).filter((each) => each.endsWith(".gguf"));
    file = path.join(folder, name);
    model = modelOf(await readGgufHeader(file, new AbortController().signal));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** It logs every tensor that is moved, and cannot load the model where it cannot read the pattern. */
  async function real(pattern: string): Promise<Answer> {
    const args = ["-m", file, "-c", "256", "-lv", "5", "-ot", `${pattern}=CPU`];
    const signal = AbortSignal.timeout(patience);
    const run = await runLlamaProgram("llama-fit-params", args, { signal }).catch(() => undefined);
    if (run === undefined) return "too slow";
    if (run.exitCode !== 0) return "invalid";
    const logged = (run.stdout + run.stderr).matchAll(/tensor (\S+) \(.*overridden to/g);
    return Array.from(logged, ([, name]) => name ?? "").toSorted();
  }

  function ours(pattern: string): readonly string[] | string {
    const { of, problems } = tensorOverrides(model.tensors, { overrideTensor: [{ pattern, buffer: "CPU" }] });
    const [problem] = problems;
    if (problem !== undefined) return problem.problem;
    return model.tensors.all.flatMap(({ name }, i) => (of(i) === undefined ? [] : [name])).toSorted();
  }

  it(`move what they move in the real llama.cpp (${patterns} generated with seed ${seed})`, async () => {
    const random = new SeededRandom(seed);
    const waiting = Array.from({ length: patterns }, () => generated(random));
    const counted = { moving: 0, invalid: 0, tooSlow: 0 };
    const worker = async (): Promise<void> => {
      for (let pattern = waiting.pop(); pattern !== undefined; pattern = waiting.pop()) {
        const theirs = await real(pattern);
        if (theirs === "too slow") counted.tooSlow += 1;
        else expect(ours(pattern), pattern).toEqual(theirs);
        if (theirs === "invalid") counted.invalid += 1;
        else if (theirs !== "too slow" && theirs.length > 0) counted.moving += 1;
      }
    };
    await Promise.all([worker(), worker()]);
    // the generator makes all kinds
    expect(counted.moving).toBeGreaterThan(50);
    expect(counted.invalid).toBeGreaterThan(10);
    expect(counted.tooSlow).toBeLessThan(15);
  }, 240_000);
});
