import { describe, expect, it } from "vitest";
import { readSlotProgress, type SlotProgress } from "../../../../src/core/bench/slotProgress";
import { SlotWatch } from "../../../../src/core/bench/slotWatch";
import { formatText } from "../../../../src/core/format";
import type { DepthCurve } from "../../../../src/core/prefill/depthCurve";
import { livePrefill, livePrefillText } from "../../../../src/core/prefill/livePrefill";

/**
 * Seconds and `/slots` of llama-server (build 11669, `-b 256`) while it read a prompt of 6000 tokens: in this build
 * `n_prompt_tokens` is what is in the cache with the batch under way. Its own timing was 13.87 s.
 */
const looks: readonly (readonly [at: number, inCache: number, processed: number, generated?: number])[] = [
  [0.54, 512, 256],
  [1.02, 1024, 768],
  [1.88, 1536, 1280],
  [3.2, 2304, 2048],
  [4.42, 2816, 2560],
  [6.08, 3328, 3072],
  [8.1, 4352, 4096],
  [10.13, 4864, 4608],
  [12.19, 5632, 5376],
  [13.81, 6000, 5888],
  [14.21, 6010, 6000, 10],
];

function slot(inCache: number, processed: number, generated = 0): SlotProgress {
  const body = [
    {
      id: 0,
      n_ctx: 16_384,
      is_processing: true,
      id_task: 1,
      n_prompt_tokens: inCache,
      n_prompt_tokens_processed: processed,
      n_prompt_tokens_cache: 0,
      next_token: [{ has_next_token: true, n_remain: 40, n_decoded: generated }],
    },
  ];
  return readSlotProgress(body)?.[0] ?? fail();
}

describe("a prompt that somebody else sends", () => {
  it("is followed from look to look, and timed when it has been read", () => {
    const watch = new SlotWatch();
    const seen = looks.map(([at, inCache, processed, generated]) =>
      watch.see([slot(inCache, processed, generated)], at),
    );
    expect(seen.map(({ reading }) => reading[0]?.progress.at(-1)?.processed)).toEqual([
      ...looks.slice(0, -1).map(([, , processed]) => processed),
      undefined,
    ]);
    expect(seen.every(({ reading }) => reading.every(({ total }) => total === undefined))).toBe(true);
    const [timing] = seen.at(-1)?.finished ?? [];
    // spans of at least 5 s: 256 to 3072 in 5.54 s, 3072 to 5376 in 6.11 s
    expect(timing).toMatchObject({ cached: 256, tokens: 5120 });
    expect(timing?.spans?.map(({ depth, tokens }) => [depth, tokens])).toEqual([
      [256, 2816],
      [3072, 2304],
    ]);
    expect(timing?.seconds).toBeCloseTo(11.65, 2);
  });

  it("has its whole length where a build tells it", () => {
    const watch = new SlotWatch();
    const totals = [512, 1024, 1536, 2048].map(
      (processed, i) => watch.see([slot(6000, processed)], i).reading[0]?.total,
    );
    expect(totals).toEqual([undefined, undefined, 6000, 6000]);
  });

  it("that was short is not timed by looking, and another task in the slot is another prompt", () => {
    const watch = new SlotWatch();
    watch.see([slot(512, 256)], 0);
    watch.see([slot(1024, 768)], 1);
    const other = { ...slot(512, 256), task: 2 };
    const seen = watch.see([other], 2);
    expect(seen.finished).toEqual([]);
    expect(seen.reading[0]?.progress).toEqual([{ processed: 256, seconds: 0 }]);
  });
});

describe("an answer of /slots", () => {
  it.each([
    [undefined],
    [{ error: { code: 501 } }],
    [[{ id: "0", is_processing: true }]],
    [[null]],
    ["slots"],
  ])("%j is none of llama-server's", (body) => {
    expect(readSlotProgress(body)).toBeUndefined();
  });

  it("of a slot that never worked has no task", () => {
    expect(readSlotProgress([{ id: 0, n_ctx: 4096, is_processing: false }])).toEqual([
      { id: 0, busy: false, limit: 4096, promptTokens: 0, cached: 0, processed: 0, generated: 0 },
    ]);
  });
});

describe("what is shown of it", () => {
  const curve: DepthCurve = {
    key: { model: "m", build: "b", flags: "" },
    points: [0, 2048, 4096, 6144].map((depth) => ({ depth, tokens: 2048, seconds: 2 + depth / 2048 })),
    generation: [],
  };
  const seen = {
    cached: 0,
    progress: [
      { processed: 0, seconds: 0 },
      { processed: 2048, seconds: 2 },
    ],
  };

  it("says that the length is an assumption where the server does not tell it", () => {
    const live = livePrefill(seen, { curve, expected: 4096 });
    expect(live).toMatchObject({ processed: 2048, total: 4096, assumed: true });
    // the second span of the curve: 3 s
    expect(live.remaining.known && live.remaining.seconds).toBeCloseTo(3, 1);
    expect(formatText(livePrefillText(live))).toMatch(
      /If it is the one estimated here \(4,096 tokens\), 3\.0 s/,
    );
  });

  it("names no time where a longer prompt than the estimated one is read", () => {
    const live = livePrefill(seen, { curve, expected: 1000 });
    expect(live.remaining.known).toBe(false);
    expect(formatText(livePrefillText(live))).toBe("The server is reading a prompt: 2,048 tokens so far.");
  });
});

function fail(): never {
  throw new Error("missing");
}
