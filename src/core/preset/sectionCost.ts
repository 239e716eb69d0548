import type { ModelFacts } from "../launch/launchRules";
import type { MemoryReport } from "../memory/memoryReport";
import type { Model } from "../model/model";
import type { SectionCost } from "../protocol/serverRequests";
import { bytes, count, say, type Text } from "../text";

/** What the language server says about a section from its computed memory. */
export function sectionCost({
  context,
  kv,
  recurrentBytes,
  devices,
  totalBytes,
  bytesPerToken,
  verdict,
}: MemoryReport): SectionCost {
  const kvBytes = kv.reduce((sum, cache) => sum + cache.bytes, 0);
  const lines: Text[] = [
    context.slots > 1
      ? say`${count(context.slots)} slots, up to ${count(context.nCtxPerSlot)} tokens each`
      : say`Up to ${count(context.nCtxPerSlot)} tokens`,
    say`KV cache ${bytes(kvBytes)}, ${bytes(bytesPerToken)} per token`,
    ...(recurrentBytes > 0 ? [say`Recurrent state ${bytes(recurrentBytes)}`] : []),
    ...devices.map(({ name, totalBytes: needed, freeBytes }) =>
      freeBytes === undefined
        ? say`${name}: ${bytes(needed)}`
        : say`${name}: ${bytes(needed)} of ${bytes(freeBytes)} free`,
    ),
  ];
  const figures = [bytes(totalBytes), bytes(kvBytes), count(context.nCtxPerSlot)] as const;
  const [total, cache, perSlot] = figures;
  const common = { lines, contextHint: say`${perSlot} tokens per slot, KV ${cache}` };
  switch (verdict) {
    case "fits":
      return { fits: true, verdict: say`Fits: ${total}, KV ${cache}, ${perSlot} tokens per slot`, ...common };
    case "tight":
      return {
        fits: true,
        verdict: say`Tight: ${total}, KV ${cache}, ${perSlot} tokens per slot`,
        ...common,
      };
    case "exceeds":
      return {
        fits: false,
        verdict: say`Does not fit: ${total}, KV ${cache}, ${perSlot} tokens per slot`,
        ...common,
      };
    case "unknown":
      return { fits: null, verdict: say`Needs ${total}, KV ${cache}, ${perSlot} tokens per slot`, ...common };
  }
}

/** The facts of a model that the rules for presets need. */
export function modelFacts({ contextLength, layers }: Model): ModelFacts {
  const attention = layers.filter(({ kind }) => kind === "attention" || kind === "swa");
  const same = (values: readonly number[]): number | undefined =>
    values.every((value) => value === values[0]) ? values[0] : undefined;
  const headDimK = same(attention.map(({ keyLength }) => keyLength));
  const headDimV = same(attention.map(({ valueLength }) => valueLength));
  return {
    ...(contextLength <= 0 ? {} : { nCtxTrain: contextLength }),
    ...(headDimK === undefined || headDimK <= 0 ? {} : { headDimK }),
    ...(headDimV === undefined || headDimV <= 0 ? {} : { headDimV }),
  };
}
