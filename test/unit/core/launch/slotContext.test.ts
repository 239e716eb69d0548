import { describe, expect, it } from "vitest";
import { slotContext, type SlotContext } from "../../../../src/core/launch/slotContext";
import { parseArguments } from "../../../../src/core/launch/commandLine";
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";
import type { TrainedContext } from "../../../../src/core/model/model";

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

/** Slot's n_ctx of the recall model (trained on 32768), as llama-server 0.7.0 (b11669) reported it. */
describe("RoPE scaling and the training context", () => {
  const own = (type: string, original?: number): TrainedContext => ({
    contextLength: 32_768,
    rope: { type, factor: 4, ...(original !== undefined && { originalContext: original }) },
  });
  it.each<[string, number, TrainedContext?]>([
    ["-c 400000 -np 1 --rope-scaling yarn --rope-scale 2", 65_536],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-scale 1.3", 42_598],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-scale 3", 98_304],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-scale 7", 229_375],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-scale 0.5", 16_384],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-scale 0", 0],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-freq-scale 0", 32_768],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-freq-scale 0.3", 109_226],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-freq-scale 0.7 --rope-scale 4", 131_072],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-scale 4 --rope-freq-scale 0.7", 46_811],
    ["-c 65536 -np 1 --rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 8192", 32_768],
    ["-c 65536 -np 1 --rope-scaling yarn --rope-scale 2 --yarn-orig-ctx 8192", 16_384],
    ["-c 65536 -np 1 --rope-scaling yarn --yarn-orig-ctx 8192", 32_768],
    ["-c 65536 -np 1 --rope-scaling linear --rope-scale 2", 32_768],
    ["-c 65536 -np 1 --rope-scale 2", 32_768],
    ["-c 65536 -np 1 --rope-scaling yarn --rope-scale 1", 32_768],
    [
      "-c 400000 -np 1 --rope-scaling yarn --rope-scale 2 --override-kv llama.context_length=int:40000",
      80_000,
    ],
    ["-np 1 --rope-scaling yarn --rope-scale 2", 65_536],
    ["-c 0 -np 2 --rope-scaling yarn --rope-scale 2", 65_536],
    ["-np 1 -fit off --rope-scaling yarn --rope-scale 2", 32_768],
    ["-np 2 -fit off --rope-scaling yarn --rope-scale 2", 16_384],
    ["-c 400000 -np 4 --kv-unified-per-slot 60000 --rope-scaling yarn --rope-scale 2", 60_000],
    ["-c 262144 -np 2 --rope-scaling yarn --rope-scale 3", 98_304],
    ["-c 400000 -np 1", 32_768, own("yarn")],
    ["-c 400000 -np 1 --rope-scale 8", 262_144, own("yarn")],
    ["-c 400000 -np 1 --rope-scale 8", 65_536, own("yarn", 8192)],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-scale 4", 32_768, own("yarn", 8192)],
    ["-c 400000 -np 1 --rope-scaling linear --rope-scale 16", 32_768, own("yarn", 8192)],
    ["-c 400000 -np 1 --rope-scaling yarn --rope-scale 2", 65_536, own("linear")],
  ])("%s: %i", (args, nCtx, trained = { contextLength: 32_768, rope: {} }) => {
    const { options, problems } = parseArguments(args.split(" "));
    expect(problems).toEqual([]);
    expect(slotContext(options, trained, 11_669).nCtxPerSlot).toBe(nCtx);
  });

  it("is taken from a running server as it is, because it has applied them", () => {
    const yarn: LaunchOptions = { ctxSize: 65_536, parallel: 1, ropeScaling: "yarn", ropeScale: 2 };
    expect(slotContext(yarn, 65_536).nCtxPerSlot).toBe(65_536);
  });

  it("did not lift it before b10754", () => {
    const yarn: LaunchOptions = { ctxSize: 65_536, parallel: 1, ropeScaling: "yarn", ropeScale: 2 };
    expect(slotContext(yarn, { contextLength: 32_768, rope: {} }, 10_753).nCtxPerSlot).toBe(32_768);
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
