import type { Cause } from "../causes/cause";
import { causes } from "../causes/causes";
import { someDevice } from "../causes/memoryCauses";
import type { LogFacts } from "./reading/logFacts";
import type { LogLine } from "./reading/logLine";

/** How an error begins in a log that has no levels, and what a program says that ends by one. */
const words =
  /^(?:\w{1,60}: )?(?:error|ERROR|fatal|FATAL|panic)(?::| [\w ]{1,30}:)|^(?:terminate called|Aborted|Killed$|Traceback \(| {1,4}what\(\): )|\(core dumped\)$/;

/** Does the log call this line an error? */
export const isError = ({ level, text }: LogLine): boolean =>
  level === undefined ? text.length < 1000 && words.test(text) : level === "error";

/** What an error may be about that no explanation knows, by its words; the first that matches. */
const nearest: readonly (readonly [RegExp, (facts: LogFacts) => Cause])[] = [
  [/flash[_ ]?attn|flash attention/i, () => causes.quantisedVNeedsFlashAttn()],
  [
    /context (?:size|length|window)|n_ctx|too (?:long|large|big|many tokens)|overflow/i,
    () => causes.contextTooSmall(),
  ],
  [
    /out of memory|alloc|\bOOM\b|insufficient|Killed$/i,
    ({ slots }) => causes.outOfMemory((slots?.count ?? 1) > 1),
  ],
  [/draft|speculative|\bMTP\b|eagle/i, () => causes.draftMismatch()],
  [/mmproj|clip|mtmd|multimodal|projector/i, () => causes.mmprojMismatch()],
  [/recurrent|rs cache/i, () => causes.stateOutOfMemory({ device: someDevice })],
  [/\brpc\b/i, () => causes.rpcUnreachable()],
  [/tensor|gguf|tokenizer|vocab/i, () => causes.missingTensor()],
  [/preset|models-dir/i, () => causes.presetUnreadable()],
  [/driver|no device|toolchain/i, () => causes.driverMismatch()],
  [
    /cuda|hip|rocm|vulkan|metal|sycl|cann|kernel|assert|backend|decode|core dumped|Aborted|terminate called/i,
    () => causes.illegalAccess(),
  ],
  [/socket|bind|listen|port\b/i, () => causes.portInUse(undefined)],
];

/** An error that no explanation knows: where it comes from, and what is known that is nearest to it. */
export function unknownError({ text }: LogLine, facts: LogFacts): Cause {
  const place = /^(?:(?:srv|slot|cmn|que|res)\s+)?([\w~:]{2,60}?(?:\(\))?): /.exec(text)?.[1];
  const [, found] = nearest.find(([pattern]) => pattern.test(text)) ?? [];
  return causes.unknownError(
    /^(?:error|fatal|panic|exception|what)$/i.test(place ?? "") ? undefined : place,
    found?.(facts),
  );
}
