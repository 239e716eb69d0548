import { describe, expect, it } from "vitest";
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";
import { contextPlan } from "../../../../src/core/memory/contextPlan";
import { kvCaches } from "../../../../src/core/memory/kvCache";
import { recurrentState, sumBytes } from "../../../../src/core/memory/recurrentState";
import { modelOf } from "../../../../src/core/model/modelOf";
import { headerOf, publicCases, type PublicCase } from "./fixtures";

const MiB = 2 ** 20;

const cases = publicCases();
const metadataOf = (each: PublicCase): PublicCase["hparams"] =>
  each.hparams ?? cases.find(({ id }) => id === each.hparams_ref)?.hparams;

/** Not comparable: forks, older rules we do not claim, and headers quoted only in part. */
const excluded: Readonly<Record<string, string>> = {
  "idx-deepseek2-v2lite-nomla-ctx2048": "header quoted in part",
  "idx-deepseek2-v2lite-nomla-ctx4096": "header quoted in part",
  "idx-deepseek2-v2lite-nomla-ctx8192": "header quoted in part",
  "idx-dsv2lite-opencl-4096": "header quoted in part",
  "idx-dsv2lite-cpu-2048": "header quoted in part",
  "idx-lfm2-1.2b-cpu-ctx4096": "list of KV heads cut off, and without a period",
  "idx-qwen38-27b-heretic-q3km-24576": "state shapes not quoted",
  "idx-minimaxm27-rocm-fork-turbo4-ctx24576": "fork with cache types of its own",
  "idx-gemma3-1b-cuda-4096-preiswa": "build before the cache for windows",
  "ml-deepseek-v3-4cuda-ot-16384-fa-mla-ub1024": "build that stored V beside the latent",
};

/** Logs print the first twelve items of a list; what follows repeats them. */
function completed(metadata: NonNullable<PublicCase["hparams"]>): NonNullable<PublicCase["hparams"]> {
  const blocks = Object.entries(metadata).find(([key]) => key.endsWith(".block_count"))?.[1];
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => {
      if (!Array.isArray(value) || value.at(-1) !== "..." || typeof blocks !== "number") return [key, value];
      const shown: readonly unknown[] = value.slice(0, -1);
      const period = shown.findIndex((_, at) => at > 0 && shown.every((item, i) => item === shown[i % at]));
      const length = period < 1 ? shown.length : period;
      return [key, Array.from({ length: blocks }, (_, i) => shown[i % length])];
    }),
  ) as NonNullable<PublicCase["hparams"]>;
}

function optionsOf(settings: Readonly<Record<string, unknown>>): LaunchOptions {
  const number = (key: string, otherwise: number): number => {
    const value = settings[key];
    return typeof value === "number" ? value : otherwise;
  };
  const text = (key: string): string => {
    const value = settings[key];
    return typeof value === "string" ? value : "f16";
  };
  const drafted = /n_max\D?(\d+)/.exec(String(settings["mtp"]))?.[1];
  const rollback = number("n_rs_seq", Number(drafted ?? 0));
  return {
    ctxSize: number("n_ctx", 0),
    parallel: number("n_seq_max", 1),
    kvUnified: settings["kv_unified"] === true,
    batchSize: number("n_batch", 2048),
    ubatchSize: number("n_ubatch", 512),
    cacheTypeK: text("type_k"),
    cacheTypeV: text("type_v"),
    flashAttn: /off|disabled|false/.test(String(settings["flash_attn"])) ? "off" : "auto",
    swaFull: settings["swa_full"] === true,
    ...(rollback > 0 ? { specType: ["draft-mtp"], specDraftNMax: rollback } : {}),
  };
}

describe("caches printed in public logs", () => {
  const usable = cases.filter(
    (each) =>
      metadataOf(each) !== undefined &&
      typeof each.settings?.["n_ctx"] === "number" &&
      excluded[each.id] === undefined &&
      !each.id.startsWith("ik-"),
  );

  it("are enough, and from several architectures", () => {
    expect(usable.length).toBeGreaterThan(25);
    expect(new Set(usable.map(({ arch }) => arch)).size).toBeGreaterThan(8);
  });

  it.each(usable.map((each) => [each.id, each] as const))("%s", (_, each) => {
    const model = modelOf(headerOf(completed(metadataOf(each) ?? {})));
    const plan = contextPlan(model, optionsOf(each.settings ?? {}), undefined, "server");
    const caches = kvCaches(model, plan);
    for (const { cache, size_mib: size, cells, layers } of each.measured.kv ?? []) {
      if (size === undefined || /mtp|draft/i.test(cache ?? "")) continue;
      const found = caches.find(
        (ours) =>
          Math.abs(ours.bytes / MiB - size) <= 0.006 &&
          (cells === undefined || ours.cells === cells) &&
          (layers === undefined || ours.perLayer.length === layers),
      );
      const all = caches.map((ours) =>
        [ours.cache, ours.bytes / MiB, ours.cells, ours.perLayer.length].join(" "),
      );
      expect(
        found,
        `${cache} ${size} MiB ${cells} cells ${layers} layers; ours: ${all.join("; ")}`,
      ).toBeDefined();
    }
    const state = each.measured.rs_mib;
    if (state !== undefined) expect(sumBytes(recurrentState(model, plan)) / MiB).toBeCloseTo(state, 1);
  });
});
