import { describe, expect, it } from "vitest";
import { composeChain, type RungPrompt } from "../../../../../src/core/ladder/prompt/compose";
import { type Tokenize, Filler } from "../../../../../src/core/ladder/prompt/filler";
import { fillerSentences } from "../../../../../src/core/ladder/prompt/fillerText";
import { defaultPlan, type LadderPlan } from "../../../../../src/core/ladder/plan/plan";
import { UserError } from "../../../../../src/core/userError";

/** A vocabulary whose tokens can be read back: words with what is before them, numbers, single other characters. */
const texts: string[] = [];
const ids = new Map<string, number>();
const pieces = (text: string): readonly string[] => text.match(/ ?[A-Za-z]+|\d{1,3}|[^A-Za-z\d]/g) ?? [];
const tokenize: Tokenize = (text) =>
  Promise.resolve(
    pieces(text).map((piece) => {
      const known = ids.get(piece);
      if (known !== undefined) return known;
      ids.set(piece, texts.length);
      return texts.push(piece) - 1;
    }),
  );
const textOf = (tokens: readonly number[]): string => tokens.map((id) => texts[id] ?? "").join("");
const shipped = (): Filler =>
  new Filler(
    fillerSentences("1", "t"),
    (all) => Promise.resolve(all.map((t) => pieces(t).length)),
    "shipped",
  );
const frame = { prefix: "<u>", suffix: "</u><a>" };

const chain = (plan: LadderPlan, lengths: readonly number[]): Promise<readonly RungPrompt[]> =>
  composeChain(plan, 1, lengths, { frame, tokenize, filler: shipped() });

describe("the prompts of a chain", () => {
  const plan: LadderPlan = { ...defaultPlan, rungs: [8192, 16_384] };

  it("have exactly the planned lengths, hold each canary and twin once, and say where", async () => {
    const prompts = await chain(plan, [4096, 8192, 16_384]);
    for (const { tokens, prompt, canaries, constraints } of prompts) {
      expect(prompt).toHaveLength(tokens);
      const text = textOf(prompt);
      for (const { key, value, twin, position } of canaries) {
        expect(text.split(`"${key}": "${value}"`)).toHaveLength(2);
        expect(text.split(`"${twin?.key ?? ""}": "${twin?.value ?? ""}"`)).toHaveLength(2);
        expect(textOf(prompt.slice(position, position + 40))).toMatch(
          new RegExp(`^Registry entry "${key}": "${value}"`),
        );
      }
      const depths = canaries.map(({ position }) => position / tokens).sort((a, b) => a - b);
      const step = 0.8 / (depths.length - 1);
      // the question of the short base takes the end of its prompt
      const shrink = tokens === 4096 ? 0.75 : 0.9;
      depths.forEach((depth, i) => {
        expect(depth).toBeLessThan(0.1 + step * i + 0.03);
        expect(depth).toBeGreaterThan(shrink * (0.1 + step * i) - 0.03);
      });
      expect(constraints?.positions.map(({ position }) => position / tokens)[0]).toBeLessThan(0.08);
      expect(textOf(constraints?.prompt ?? [])).toContain(
        `three rules for the module "${constraints?.set.module ?? ""}"`,
      );
    }
  });

  it("end with the beginning of a line, without question or template, where lines are completed", async () => {
    const lines: LadderPlan = {
      ...plan,
      constraints: false,
      canaries: { ...plan.canaries, question: "line" },
    };
    const [prompt] = await composeChain(lines, 1, [4096], {
      ...{ frame: { prefix: "", suffix: "" }, tokenize, filler: shipped() },
    });
    expect(prompt?.prompt).toHaveLength(4096);
    for (const { key, value } of prompt?.canaries ?? []) {
      const text = textOf((await prompt?.single(key)) ?? []);
      expect(text.endsWith(`\nRegistry entry "${key}": "`)).toBe(true);
      expect(text).toContain(`\nRegistry entry "${key}": "${value}"`);
      expect(text).not.toMatch(/### Question|<u>/);
    }
  });

  it("grow: what was read for one length is a prefix of the next", async () => {
    const [base, first, second] = await chain(plan, [4096, 8192, 16_384]);
    const shared = (a: RungPrompt | undefined, b: RungPrompt | undefined): number => {
      let n = 0;
      while (n < (a?.tokens ?? 0) && a?.prompt[n] === b?.prompt[n]) n++;
      return n;
    };
    expect(shared(base, first)).toBeGreaterThan(4096 * 0.8);
    expect(shared(first, second)).toBeGreaterThan(8192 * 0.9);
  });

  it("follow from the seed alone, and another run begins differently at once", async () => {
    const [once] = await chain(plan, [8192]);
    const [again] = await chain(plan, [8192]);
    expect(again?.prompt).toEqual(once?.prompt);
    const [other] = await composeChain(plan, 2, [8192], { frame, tokenize, filler: shipped() });
    expect(other?.prompt.slice(0, 8)).not.toEqual(once?.prompt.slice(0, 8));
    expect(other?.canaries.map(({ key }) => key)).not.toEqual(once?.canaries.map(({ key }) => key));
  });

  it("crowd shorter lengths first, and end in one error where even that has no room", async () => {
    const crowded: LadderPlan = {
      ...plan,
      rungs: [900, 1500],
      baseTokens: 700,
      constraints: false,
      canaries: { target: 6, other: 6, distractors: true },
    };
    const prompts = await chain(crowded, [700, 900, 1500]);
    expect(prompts.map(({ prompt }) => prompt.length)).toEqual([700, 900, 1500]);
    for (const { prompt, canaries } of prompts)
      for (const { key, value } of canaries) expect(textOf(prompt)).toContain(`"${key}": "${value}"`);
    await expect(
      chain({ ...crowded, canaries: { target: 20, other: 6, distractors: true } }, [700, 900, 1500]),
    ).rejects.toThrow(/canaries overlap/);
  });

  it("do not repeat a filler that ends too early", async () => {
    const short = new Filler(["one line\n"], (all) => Promise.resolve(all.map(() => 3)), "./docs");
    await expect(composeChain(plan, 1, [8192], { frame, tokenize, filler: short })).rejects.toThrow(
      UserError,
    );
    await expect(
      composeChain(plan, 1, [8192], {
        frame,
        tokenize,
        filler: new Filler(["one line\n"], (all) => Promise.resolve(all.map(() => 3)), "./docs"),
      }),
    ).rejects.toThrow(/\.\/docs is too small: it ends after/);
  });
});
