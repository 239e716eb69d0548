import { describe, expect, it } from "vitest";
import { judgeLadder } from "../../../../src/core/ladder/score/judgeLadder";
import { makeCanaries, type PlacedCanary } from "../../../../src/core/ladder/prompt/canaries";
import { LadderRandom } from "../../../../src/core/ladder/prompt/ladderRandom";
import { readAnswer } from "../../../../src/core/ladder/score/readAnswer";
import { invalidBecause, scoreCanaries } from "../../../../src/core/ladder/score/scoring";
import type { LadderStep } from "../../../../src/core/ladder/score/record";
import { plan, recordOf, stepOf } from "./records";

const ladders = 1500;

/** What a model with this recall would write: the value, its twin's, another one's, an invention, or nothing. */
function answerOf(canaries: readonly PlacedCanary[], recall: number, random: LadderRandom): string {
  const entries = canaries.flatMap(({ key, value, twin }, i): [string, string][] => {
    if (random.next() < recall) return [[key, value]];
    const wrong = [twin?.value, canaries[(i + 1) % canaries.length]?.value, "111111", undefined];
    const given = wrong[random.below(wrong.length)];
    return given === undefined ? [] : [[key, given]];
  });
  const json = JSON.stringify(Object.fromEntries(entries));
  return random.next() < 0.3 ? `Here it is:\n\`\`\`json\n${json}\n\`\`\`` : json;
}

function targetRun(run: number, recall: number, random: LadderRandom): LadderStep {
  const used = { pairs: new Set<string>(), values: new Set<string>() };
  const canaries = makeCanaries(20, true, random, used).map((c, i) => ({ ...c, position: 1000 * i }));
  const text = answerOf(canaries, recall, random);
  const keys = canaries.map(({ key }) => key);
  const read = readAnswer(text, keys);
  const prompt = { tokens: 32_768, values: used.values };
  const scored = scoreCanaries(canaries, { together: read.values, singly: new Map() }, prompt);
  const invalid = invalidBecause({
    sentTokens: 32_768,
    evaluatedTokens: 32_768,
    text,
    stoppedByLimit: false,
    truncated: false,
    ...read,
  });
  return stepOf(32_768, run, [], { canaries: scored, ...(invalid !== undefined && { invalid }) });
}

/** Share of ladders that pass. */
function accepted(recall: number): number {
  const random = new LadderRandom("7", "simulation", String(recall));
  let passes = 0;
  for (let ladder = 0; ladder < ladders; ladder++) {
    const runs = [1, 2, 3].map((run) => targetRun(run, recall, random));
    if (judgeLadder(recordOf(runs, plan)).pass) passes++;
  }
  return passes / ladders;
}

describe("the default criterion, on simulated models through the real scoring", () => {
  // 0.004, 0.042, 0.27, 0.82, 0.992, 0.9998 by the binomial distribution
  it.each([
    [0.8, 0, 0.01],
    [0.85, 0.02, 0.05],
    [0.9, 0.22, 0.32],
    [0.95, 0.77, 0.87],
    [0.98, 0.98, 1],
    [0.99, 0.995, 1],
  ])("accepts a recall of %f in %f to %f of the ladders", (recall, least, most) => {
    const rate = accepted(recall);
    expect(rate).toBeGreaterThanOrEqual(least);
    expect(rate).toBeLessThanOrEqual(most);
  });
});
