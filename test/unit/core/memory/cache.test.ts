import { describe, expect, it } from "vitest";
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";
import { contextPlan } from "../../../../src/core/memory/contextPlan";
import { kvCaches, mtpCache } from "../../../../src/core/memory/kvCache";
import { breakdown } from "../../../../src/core/memory/budget/breakdown";
import { recurrentState, sumBytes } from "../../../../src/core/memory/recurrentState";
import { cacheTypes } from "../../../../src/core/model/ggmlTypes";
import { modelOf } from "../../../../src/core/model/modelOf";
import { headerOf, toys, truth } from "./fixtures";

const MiB = 2 ** 20;

const runs: Readonly<Record<string, LaunchOptions>> = {
  np1: { ctxSize: 8192, parallel: 1 },
  np3: { ctxSize: 8192, parallel: 3 },
  faoff: { ctxSize: 8192, parallel: 1, flashAttn: "off" },
  q8: { ctxSize: 8192, parallel: 1, cacheTypeK: "q8_0", cacheTypeV: "q8_0" },
  ub2048: { ctxSize: 8192, parallel: 1, batchSize: 4096, ubatchSize: 2048 },
  c32k: { ctxSize: 32_768, parallel: 1 },
  swafull: { ctxSize: 8192, parallel: 1, swaFull: true },
};

describe("KV cache and recurrent state of every architecture llama.cpp can make a toy of", () => {
  const models = [...toys()];

  it("has all of them", () => {
    expect(models.length).toBeGreaterThan(125);
    expect(models.flatMap(([, { runs: of }]) => Object.keys(of)).length).toBeGreaterThan(900);
  });

  it.each(models)("%s", (_, { metadata, runs: measured }) => {
    const model = modelOf(headerOf(metadata));
    expect(model.rules).toBeDefined();
    for (const [run, { kv, state }] of Object.entries(measured)) {
      const plan = contextPlan(model, runs[run] ?? {}, undefined, "fitParams");
      const ours = kvCaches(model, plan)
        .filter((cache) => cache.bytes > 0)
        .map(({ perLayer, cells, streams, bytes }) => [
          perLayer.length,
          cells,
          streams,
          Math.round(bytes / MiB / 0.02),
        ]);
      const theirs = kv
        .filter(([, , , k, v]) => k + v > 0)
        .map(([layers, cells, streams, k, v]) => [layers, cells, streams, Math.round((k + v) / 0.02)]);
      const within = (a: readonly number[], b: readonly number[] | undefined): boolean =>
        b !== undefined &&
        a.slice(0, 3).every((x, i) => x === b[i]) &&
        Math.abs((a[3] ?? 0) - (b[3] ?? 0)) <= 1;
      expect(ours.length, run).toBe(theirs.length);
      for (const cache of ours) {
        expect(
          theirs.some((other) => within(cache, other)),
          `${run} ${cache.join()} of ${JSON.stringify(theirs)}`,
        ).toBe(true);
      }
      const bytes = sumBytes(recurrentState(model, plan));
      expect(Math.abs(bytes / MiB - (state === null ? 0 : state[0] + state[1])), run).toBeLessThanOrEqual(
        0.0101,
      );
    }
  });
});

describe("contexts of real-size models", () => {
  const { rows } = truth();
  const main = rows.filter((row) => !row.draftContext);

  it("gives cells, slots and streams as llama.cpp does, always", () => {
    expect(main.length).toBeGreaterThan(4000);
    for (const row of main) {
      const plan = contextPlan(row.model, row.options, undefined, row.caller);
      expect([plan.slot.nCtx, plan.slot.nCtxSeq, plan.ubatch], row.name).toEqual([
        row.nCtx,
        row.nCtxSeq,
        row.ubatch,
      ]);
      const caches = kvCaches(row.model, plan).map((cache) =>
        [cache.cells, cache.perLayer.length, cache.streams].join(),
      );
      const theirs = row.caches.filter(([, layers]) => layers > 0).map((cache) => cache.join());
      expect(caches.sort(), row.name).toEqual(theirs.sort());
    }
  });

  it("gives KV cache and recurrent state of each device to the byte", () => {
    for (const row of main) {
      const parts = breakdown(row.model, row.options, row.devices, { caller: row.caller });
      for (const { name, kv, recurrent } of parts.rows) {
        expect(kv + recurrent, `${row.name} ${name}`).toBe(row.buffers.get(name)?.[1] ?? 0);
      }
    }
  });

  it("gives the draft context of MTP blocks to the byte", () => {
    const drafts = rows.filter((row) => row.draftContext);
    expect(drafts.length).toBeGreaterThan(10);
    for (const row of drafts) {
      const plan = contextPlan(row.model, row.options, undefined, "server");
      const type = cacheTypes.get(row.options.cacheTypeK ?? "f16");
      if (type === undefined) throw new Error("an allowed type");
      const total = [...row.buffers.values()].reduce((sum, [, context]) => sum + context, 0);
      expect(mtpCache(row.model, plan, type, type)?.bytes, row.name).toBe(total);
    }
  });

  it("gives its compute buffers within the interval", () => {
    const drafts = rows.filter(
      (row) => row.draftContext && row.options.specType?.includes("draft-mtp") === true,
    );
    expect(drafts.length).toBeGreaterThan(10);
    for (const row of drafts) {
      const { cacheTypeK = "f16", cacheTypeV = "f16" } = row.options;
      const drafted = { ...row.options, specDraftTypeK: cacheTypeK, specDraftTypeV: cacheTypeV };
      for (const { name, other } of breakdown(row.model, drafted, row.devices, {}).rows) {
        const [, context, compute] = row.buffers.get(name) ?? [0, 0, 0];
        expect(other.low, `${row.name} ${name}`).toBeLessThanOrEqual(context + compute);
        expect(other.high, `${row.name} ${name}`).toBeGreaterThanOrEqual(context + compute);
      }
    }
  });
});
