import { describe, expect, it } from "vitest";
import { slotContext, type SlotContext } from "../../../../src/core/launch/slotContext";
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";

const train = 131_072;

/** slots, slot n_ctx, cells of a stream, streams: as llama-server 0.7.0 (b11669) logged and reported them. */
type Seen = readonly [slots: number, slotNCtx: number, cells: number, streams: number];

const seen = (context: SlotContext): Seen => [
  context.slots,
  context.nCtxPerSlot,
  context.nCtxSeq,
  context.streams,
];

describe("what llama-server b11669 makes of its options (model trained on 131072)", () => {
  it.each<[string, LaunchOptions, Seen]>([
    ["nothing", {}, [4, 131_072, 131_072, 1]],
    ["-c 0", { ctxSize: 0 }, [4, 131_072, 131_072, 1]],
    ["-c 5000", { ctxSize: 5000 }, [4, 5120, 5120, 1]],
    ["-c 5000 -np 1", { ctxSize: 5000, parallel: 1 }, [1, 5120, 5120, 1]],
    ["-c 1000 -np 3", { ctxSize: 1000, parallel: 3 }, [3, 512, 512, 3]],
    ["-c 8192 -np 2", { ctxSize: 8192, parallel: 2 }, [2, 4096, 4096, 2]],
    ["-c 5000 -np 3 -kvu", { ctxSize: 5000, parallel: 3, kvUnified: true }, [3, 5120, 5120, 1]],
    ["-no-kvu -c 8192", { ctxSize: 8192, kvUnified: false }, [4, 8192, 8192, 1]],
    ["-c 200000 -np 1", { ctxSize: 200_000, parallel: 1 }, [1, 131_072, 200_192, 1]],
    ["--kv-unified-per-slot 3000", { kvUnifiedPerSlot: 3000 }, [4, 3000, 12_032, 1]],
    ["-np 4", { parallel: 4 }, [4, 131_072, 131_072, 4]],
    ["-np 4 -fit off", { parallel: 4, fit: false }, [4, 32_768, 32_768, 4]],
    ["-np 3 -kvu", { parallel: 3, kvUnified: true }, [3, 131_072, 131_072, 1]],
  ])("%s", (_, options, expected) => {
    expect(seen(slotContext(options, train, 11_669))).toEqual(expected);
  });

  it("counts the cells of all streams in nCtx", () => {
    expect(slotContext({ ctxSize: 1000, parallel: 3 }, train).nCtx).toBe(1536);
    expect(slotContext({ ctxSize: 5000, parallel: 3, kvUnified: true }, train).nCtx).toBe(5120);
  });

  it("says when the training context holds a slot back, and lets --override-kv raise it", () => {
    expect(slotContext({ ctxSize: 200_000, parallel: 1 }, train).cappedByTraining).toBe(true);
    const raised = { ctxSize: 200_000, parallel: 1, overrideKv: ["qwen2.context_length=int:262144"] };
    expect(slotContext(raised, train)).toMatchObject({ nCtxPerSlot: 200_192, cappedByTraining: false });
  });

  it("knows when -fit may still reduce the context", () => {
    expect(slotContext({}, train).fitMayReduce).toBe(true);
    expect(slotContext({ ctxSize: 0 }, train).fitMayReduce).toBe(false);
    expect(slotContext({ ctxSize: 4096 }, train).fitMayReduce).toBe(false);
    expect(slotContext({ fit: false }, train).fitMayReduce).toBe(false);
  });
});

describe("older builds", () => {
  it("divide the training context among explicit slots", () => {
    expect(seen(slotContext({ parallel: 4 }, train, 10_470))).toEqual([4, 32_768, 32_768, 4]);
  });

  it("have one slot where -np is not given, before b7433", () => {
    expect(seen(slotContext({ ctxSize: 8192 }, train, 7432))).toEqual([1, 8192, 8192, 1]);
    expect(seen(slotContext({ ctxSize: 8192 }, train, 7433))).toEqual([4, 8192, 8192, 1]);
  });

  it("do not pad before b6975", () => {
    expect(slotContext({ ctxSize: 5000, parallel: 1 }, train, 6974).nCtxPerSlot).toBe(5000);
    expect(slotContext({ ctxSize: 5000, parallel: 1 }, train, 6975).nCtxPerSlot).toBe(5120);
  });
});
