/** Loads of llama.cpp that people published, as far as their header and options are quoted. */
import type { LaunchOptions } from "../../../../src/core/launch/launchOptions";
import { modelOf } from "../../../../src/core/model/modelOf";
import type { Model } from "../../../../src/core/model/model";
import { headerOf, publicCases, type PublicCase } from "./fixtures";

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

export function optionsOfCase({ settings = {} }: PublicCase): LaunchOptions {
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

export const usableCases = (): readonly PublicCase[] =>
  cases.filter(
    (each) =>
      metadataOf(each) !== undefined &&
      typeof each.settings?.["n_ctx"] === "number" &&
      excluded[each.id] === undefined &&
      !each.id.startsWith("ik-"),
  );

export function modelOfCase(each: PublicCase): Model {
  const metadata = completed(metadataOf(each) ?? {});
  // logs print of a vocabulary only how long it is
  const length = /^arr\[str,(\d+)/.exec(String(metadata["tokenizer.ggml.tokens"]))?.[1];
  const header = headerOf(metadata);
  return modelOf(length === undefined ? header : { ...header, vocabularySize: Number(length) });
}
