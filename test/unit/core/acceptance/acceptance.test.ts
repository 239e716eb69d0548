import { describe, expect, it } from "vitest";
import {
  acceptance,
  isAccepted,
  limitOfLaunch,
  limitOfServer,
  type RequestLimit,
} from "../../../../src/core/acceptance/acceptance";
import type { ServerFacts } from "../../../../src/core/acceptance/serverFacts";
import { slotContext } from "../../../../src/core/launch/slotContext";
import { formatText } from "../../../../src/core/format";
import { known, unknown } from "../../../../src/core/known";
import { say } from "../../../../src/core/text";

const limit: RequestLimit = {
  nCtxPerSlot: 2048,
  provenance: "reported",
  slots: 4,
  busySlots: 0,
  sleeping: false,
  fitMayReduce: false,
};

const parts = (files: number): { files: number; packing: number; template: number } => ({
  files,
  packing: 0,
  template: 0,
});

interface Case {
  readonly files: number;
  readonly limit?: Partial<RequestLimit>;
  readonly relativeError?: number;
  readonly answerReserve?: number;
}

function judge({ files, answerReserve = 0, relativeError, ...rest }: Case): ReturnType<typeof acceptance> {
  return acceptance({
    parts: parts(files),
    limit: known({ ...limit, ...rest.limit }),
    answerReserve,
    ...(relativeError !== undefined && { relativeError }),
  });
}

const sentences = (report: ReturnType<typeof acceptance>): string =>
  report.reasons.map((reason) => formatText(reason)).join("\n");

describe("the rule", () => {
  // llama-server b11669 with n_ctx 2048: 2047 accepted, 2048 refused
  it("refuses from n_ctx on", () => {
    expect([2047, 2048, 2049].map((tokens) => isAccepted(tokens, 2048))).toEqual([true, false, false]);
    expect([2047, 2048].map((files) => judge({ files }).accepted)).toEqual([true, false]);
  });

  it("counts every part of the prompt, and does not count the reserve", () => {
    const report = acceptance({
      parts: { files: 1900, packing: 100, template: 40 },
      limit: known(limit),
      answerReserve: 512,
    });
    expect(report).toMatchObject({ promptTokens: 2040, accepted: true, answerRoom: 8, answerReserve: 512 });
    expect(sentences(report)).toContain("Only 8 tokens are left for the answer");
    expect(judge({ files: 1000, answerReserve: 512 }).reasons).toHaveLength(1);
  });

  it("leaves no room where it refuses", () => {
    expect(judge({ files: 5000 }).answerRoom).toBe(0);
    expect(sentences(judge({ files: 5000, answerReserve: 100 }))).not.toContain("left for the answer");
  });

  it("is open where the limit is not known, with what is missing", () => {
    const report = acceptance({
      parts: parts(10),
      limit: unknown(say`No server.`, say`Start one.`),
      answerReserve: 0,
    });
    expect(report).toMatchObject({ accepted: null, nCtxPerSlot: null, answerRoom: null });
    expect(sentences(report)).toBe("No server.");
  });
});

describe("an estimated count", () => {
  it.each([
    [1000, 0.4, true],
    [1462, 0.4, true], // 1462 × 1.4 = 2046.8
    [1463, 0.4, null],
    [2048, 0.4, null],
    [3412, 0.4, null], // 3412 × 0.6 = 2047.2
    [3414, 0.4, false],
  ])("of %i tokens, ±%d, gives %s", (files, relativeError, expected) => {
    const report = judge({ files, relativeError });
    expect(report.accepted).toBe(expected);
    expect(report.exact).toBe(false);
    expect(sentences(report)).toContain("±40 %");
  });
});

describe("other slots at work", () => {
  it("do not matter where every slot has its own cells", () => {
    expect(judge({ files: 1000, limit: { busySlots: 2, unified: false } }).reasons).toHaveLength(1);
  });

  it("matter where all share one pool and it runs out", () => {
    const shared = { busySlots: 1, unified: true, poolCells: 2048 };
    expect(judge({ files: 1000, limit: { ...shared, busyTokens: 900 } }).reasons).toHaveLength(1);
    const full = judge({ files: 1000, limit: { ...shared, busyTokens: 900 }, answerReserve: 200 });
    expect(full.accepted).toBe(true);
    expect(sentences(full)).toContain("would run out");
  });

  it("may matter where nobody said whether they share", () => {
    expect(sentences(judge({ files: 1000, limit: { busySlots: 1 } }))).toContain("if the slots share");
  });
});

describe("limits", () => {
  const facts: ServerFacts = {
    url: "http://127.0.0.1:9931",
    role: "single",
    model: { id: "m" },
    nCtxPerSlot: 4096,
    totalSlots: 2,
    slots: [
      { id: 0, nCtx: 4096, busy: true, tokens: 700 },
      { id: 1, nCtx: 4096, busy: false, tokens: 900 },
    ],
    sleeping: true,
    hasVision: false,
  };

  it("of a server: only slots at work hold others back", () => {
    expect(limitOfServer(facts)).toMatchObject({ nCtxPerSlot: 4096, busySlots: 1, busyTokens: 700 });
    expect(limitOfServer(facts).unified).toBeUndefined();
    expect(limitOfServer(facts, slotContext({ ctxSize: 4096 }, 8192))).toMatchObject({
      unified: true,
      poolCells: 4096,
    });
  });

  it("of a sleeping server say so", () => {
    const report = acceptance({ parts: parts(1), limit: known(limitOfServer(facts)), answerReserve: 0 });
    expect(sentences(report)).toContain("asleep");
  });

  it("of launch options warn that -fit may reduce them", () => {
    const open = acceptance({
      parts: parts(1),
      limit: known(limitOfLaunch(slotContext({}, 8192))),
      answerReserve: 0,
    });
    expect(sentences(open)).toContain("-c");
    const set = limitOfLaunch(slotContext({ ctxSize: 4096 }, 8192));
    expect(acceptance({ parts: parts(1), limit: known(set), answerReserve: 0 }).reasons).toHaveLength(1);
  });
});
