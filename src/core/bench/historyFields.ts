import type { RequestTiming } from "../prefill/liveTimings";
import type { MonitorEvent, MonitorReport } from "./monitorSample";

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
