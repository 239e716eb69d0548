import type { CurveKey } from "../prefill/depthCurve";
import type { RequestTiming } from "../prefill/liveTimings";
import { isText } from "../text";
import type { AgreementSample, ComparisonAnswer, ComparisonResult } from "../bench/comparison";
import type { Drift } from "../bench/drift";
import type { CostStep } from "../bench/costSteps";
import type { MonitorEvent, MonitorReport } from "../monitor/monitorSample";

type Fields = Readonly<Record<string, unknown>>;

const verdicts = ["clean", "drift", "contaminated", "unmonitored"] as const;

/** What each kind of event needs to be drawn; lines of the history may come from another version or from a hand. */
const eventFields: Readonly<Record<MonitorEvent["kind"], (event: Fields) => boolean>> = {
  foreignCpu: ({ who, share }) => areNamed(who) && isNumber(share),
  foreignGpu: ({ share }) => isNumber(share),
  otherLlama: ({ who }) => areNamed(who),
  swapping: ({ bytes }) => isNumber(bytes),
  throttled: ({ clockShare }) => isNumber(clockShare),
  powerChanged: ({ onBattery }) => typeof onBattery === "boolean",
  slept: ({ seconds }) => isNumber(seconds),
};

/** The watch's word in a record; undefined where it is none. Events nobody can draw are left out. */
export function checkedMonitor(value: unknown): MonitorReport | undefined {
  if (!isFields(value)) return undefined;
  const verdict = verdicts.find((known) => known === value["verdict"]);
  const { events, samples, foreignCpuBefore } = value;
  if (verdict === undefined) return undefined;
  return {
    verdict,
    events: Array.isArray(events) ? (events.filter(isEvent) as readonly MonitorEvent[]) : [],
    samples: isNumber(samples) ? samples : 0,
    ...(isNumber(foreignCpuBefore) && { foreignCpuBefore }),
  };
}

/** A request's timing in a record; undefined where it is none. */
export function checkedRequest(value: unknown): RequestTiming | undefined {
  if (!isFields(value)) return undefined;
  const { cached, tokens, seconds, spans, disturbed } = value;
  if (!isNumber(cached) || !isNumber(tokens) || !isNumber(seconds)) return undefined;
  const listed = Array.isArray(spans) ? (spans as readonly unknown[]).filter(isSpan) : [];
  return {
    cached,
    tokens,
    seconds,
    ...(listed.length > 0 && { spans: listed }),
    ...(disturbed === true && { disturbed }),
  };
}

/** Words and numbers of a record; a field of the wrong kind is left out, and what is checked by itself stays out. */
export function plainFields(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => {
      if (["id", "kind", "tool", "ended", "error", "raw", "label"].includes(name)) {
        return typeof value === "string";
      }
      if (["version", "at", "modelBytes", "plannedSeconds", "seconds"].includes(name)) return isNumber(value);
      if (name === "argv") return Array.isArray(value);
      return (name === "effective" || name === "machine") && isFields(value);
    }),
  );
}

/** Milliseconds that are a date: others have no day and no year. */
export const isTime = (value: unknown): value is number => isNumber(value) && Math.abs(value) <= 8.64e15;

/** What a run was measured on; undefined where it does not say. */
export function checkedKey(value: unknown): CurveKey | undefined {
  if (!isFields(value)) return undefined;
  const { model, build, flags, backend, hardware } = value;
  if (typeof model !== "string" || typeof build !== "string" || typeof flags !== "string") return undefined;
  return {
    model,
    build,
    flags,
    ...(typeof backend === "string" && { backend }),
    ...(typeof hardware === "string" && { hardware }),
  };
}

/** A comparison in a record; undefined where a part of it cannot be shown. */
export function checkedComparison(value: unknown): ComparisonResult | undefined {
  if (!isFields(value)) return undefined;
  const { option, values, depth, threshold, prefill, generation, agreement } = value;
  const [baseline, other] = Array.isArray(values) ? (values as readonly unknown[]) : [];
  if (typeof option !== "string" || typeof baseline !== "string" || typeof other !== "string")
    return undefined;
  if (!isNumber(depth) || !isNumber(threshold) || !isAnswer(prefill) || !isAnswer(generation))
    return undefined;
  return {
    ...{ option, values: [baseline, other], depth, threshold, prefill, generation },
    ...(isAgreement(agreement) && { agreement }),
  };
}

export function checkedDrift(value: unknown): Drift | undefined {
  if (!isFields(value) || !isNumber(value["change"])) return undefined;
  const kind = (["stable", "drift", "invalid"] as const).find((known) => known === value["kind"]);
  return kind && { kind, change: value["change"] };
}

export function checkedSteps(value: unknown): readonly CostStep[] | undefined {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isCostStep) : undefined;
}

const isCostStep = (step: unknown): step is CostStep =>
  isFields(step) &&
  isNumber(step["depth"]) &&
  isNumber(step["ratio"]) &&
  (step["kind"] === "interference" || step["kind"] === "knee");

function isAnswer(value: unknown): value is ComparisonAnswer {
  if (!isFields(value) || !isText(value["sentence"]) || !Array.isArray(value["notes"])) return false;
  const { kind, lowPercent, highPercent, withinPercent } = value;
  if (!value["notes"].every(isText)) return false;
  if (kind === "faster" || kind === "slower") return isNumber(lowPercent) && isNumber(highPercent);
  return kind === "cannotJudge" || (kind === "noDifference" && isNumber(withinPercent));
}

const isAgreement = (value: unknown): value is AgreementSample =>
  isFields(value) && isNumber(value["agreed"]) && isNumber(value["of"]);

function isEvent(event: unknown): boolean {
  if (!isFields(event) || !isNumber(event["fromSeconds"]) || !isNumber(event["toSeconds"])) return false;
  const check = (eventFields as Readonly<Record<string, (event: Fields) => boolean>>)[String(event["kind"])];
  return check?.(event) === true;
}

function isSpan(span: unknown): span is NonNullable<RequestTiming["spans"]>[number] {
  if (!isFields(span)) return false;
  const { depth, tokens, seconds } = span;
  return isNumber(depth) && isNumber(tokens) && tokens > 0 && isNumber(seconds) && seconds > 0;
}

function areNamed(who: unknown): boolean {
  return (
    Array.isArray(who) &&
    who.every((one: unknown) => isFields(one) && isNumber(one["pid"]) && typeof one["name"] === "string")
  );
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
