import { describe, expect, it } from "vitest";
import type { ServerFacts } from "../../../../src/core/acceptance/serverFacts";
import { slotContext } from "../../../../src/core/launch/slotContext";
import { runningLaunch } from "../../../../src/core/servers/runningLaunch";

const facts: ServerFacts = {
  url: "http://127.0.0.1:9931",
  role: "single",
  model: { id: "m", path: "/m.gguf", nCtxTrain: 131_072 },
  nCtxPerSlot: 5_120,
  totalSlots: 4,
  sleeping: false,
  hasVision: false,
};

describe("launch options of a running server", () => {
  // rows of the table of real command lines in llama-cpp-facts §1.1 (b11669)
  it.each([
    ["-c 5000", 5_120, 4, {}, 5_120],
    ["-c 5000 -np 1", 5_120, 1, {}, 5_120],
    ["-c 1000 -np 3", 512, 3, {}, 1_536],
    ["-c 8192 -np 2", 4_096, 2, {}, 8_192],
    ["-c 5000 -np 3 -kvu", 5_120, 3, { kvUnified: true }, 5_120],
  ])("%s: the same slots and cells come out again", (_, nCtxPerSlot, totalSlots, given, cells) => {
    const launch = runningLaunch({ ...facts, nCtxPerSlot, totalSlots }, given);
    const context = slotContext(launch, 131_072);
    expect([context.nCtxPerSlot, context.slots, context.nCtxSeq * context.streams]).toEqual([
      nCtxPerSlot,
      totalSlots,
      cells,
    ]);
  });

  it("believes the server more than a setting about context and slots, and keeps the rest of the setting", () => {
    const launch = runningLaunch(facts, {
      ctxSize: 99,
      parallel: 1,
      cacheTypeK: "q8_0",
      model: "/mine.gguf",
    });
    expect(launch).toMatchObject({ ctxSize: 5_120, parallel: 4, cacheTypeK: "q8_0", model: "/mine.gguf" });
  });

  it("keeps a command line the server agrees with: cells beyond the training context stay allocated", () => {
    // facts §1.1: `-c 200000 -np 1` is capped at 131072 per slot, and 200192 cells are allocated
    const given = { ctxSize: 200_000, parallel: 1 };
    const launch = runningLaunch({ ...facts, nCtxPerSlot: 131_072, totalSlots: 1 }, given);
    expect(slotContext(launch, 131_072)).toMatchObject({ nCtx: 200_192, nCtxPerSlot: 131_072 });
  });
});
