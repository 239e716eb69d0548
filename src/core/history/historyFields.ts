import { given } from "../given";
import { missingFields, type Assumption } from "./assumption";
import { untoldFields, type CurveKey } from "../prefill/depthCurve";
import type { RequestTiming } from "../prefill/liveTimings";
import { isText, type Text } from "../text";
import type { Wire } from "../wire";
import type { ComparisonAnswer, ComparisonResult } from "../bench/comparison";
import type { Drift } from "../bench/drift";
import type { CostStep } from "../bench/costSteps";
import type { ForeignUse, MonitorEvent, MonitorReport, ProcessName } from "../monitor/monitorSample";

/** The watch's word in a record. Events nobody can draw are left out. */
export function readMonitor(monitor: Wire): MonitorReport {
  return given({
    verdict: monitor.at("verdict").oneOf(["clean", "drift", "contaminated", "unmonitored"]),
    events: monitor.at("events").fitting(readEvent),
    samples: monitor.at("samples").ifFits((value) => value.number()) ?? 0,
    foreignCpuBefore: monitor.at("foreignCpuBefore").ifFits((value) => value.number()),
    cpu: monitor.at("cpu").ifFits(readForeignUse),
    gpu: monitor.at("gpu").ifFits(readForeignUse),
  });
}

function readForeignUse(use: Wire): ForeignUse {
  return {
    median: use.at("median").number(),
    max: use.at("max").number(),
    who: use.at("who").fitting((one) => ({ ...readProcess(one), share: one.at("share").number() })),
  };
}

function readEvent(event: Wire): MonitorEvent {
  const when = {
    fromSeconds: event.at("fromSeconds").number(),
    toSeconds: event.at("toSeconds").number(),
  };
  const kind = event
    .at("kind")
    .oneOf(["foreignCpu", "foreignGpu", "otherLlama", "swapping", "throttled", "powerChanged", "slept"]);
  const number = (name: string): number => event.at(name).number();
  switch (kind) {
    case "foreignCpu": {
      const who = event
        .at("who")
        .items()
        .map((one) => ({ ...readProcess(one), cpu: one.at("cpu").number() }));
      return { kind, who, share: number("share"), ...when };
    }
    case "foreignGpu":
      return { kind, share: number("share"), ...when };
    case "otherLlama":
      return { kind, who: event.at("who").items().map(readProcess), ...when };
    case "swapping":
      return { kind, bytes: number("bytes"), ...when };
    case "throttled":
      return { kind, clockShare: number("clockShare"), ...when };
    case "powerChanged":
      return { kind, onBattery: event.at("onBattery").boolean(), ...when };
    case "slept":
      return { kind, seconds: number("seconds"), ...when };
  }
}

function readProcess(one: Wire): ProcessName {
  return { pid: one.at("pid").number(), name: one.at("name").longText() };
}

export function readRequest(request: Wire): RequestTiming {
  const spans = request.at("spans").fitting((span) => ({
    depth: span.at("depth").number(),
    tokens: span.at("tokens").number(Number.MIN_VALUE),
    seconds: span.at("seconds").number(Number.MIN_VALUE),
  }));
  return given({
    cached: request.at("cached").number(),
    tokens: request.at("tokens").number(),
    seconds: request.at("seconds").number(),
    spans: spans.length > 0 ? spans : undefined,
    disturbed: request.at("disturbed").ifFits((value) => value.oneOf([true])),
  });
}

/** What a run was measured on. */
export function readAssumption(assumed: Wire): Assumption {
  const told = assumed.at("told");
  const untold = told.at("untold").ifFits((list) => list.items().map((item) => item.oneOf(untoldFields)));
  return {
    model: assumed.at("model").longText(),
    missing: assumed
      .at("missing")
      .items()
      .map((item) => item.oneOf(missingFields)),
    use: assumed.at("use").boolean(),
    told: { ...readKey(told), ...(untold && { untold }) },
  };
}

export function readKey(key: Wire): CurveKey {
  const text = (name: string): string => key.at(name).longText();
  return given({
    model: text("model"),
    build: text("build"),
    flags: text("flags"),
    backend: key.at("backend").ifFits((value) => value.longText()),
    hardware: key.at("hardware").ifFits((value) => value.longText()),
  });
}

export function readComparison(comparison: Wire): ComparisonResult {
  const [baseline, other] = comparison.at("values").items();
  if (baseline === undefined || other === undefined) return comparison.at("values").wrong("two values");
  return given({
    option: comparison.at("option").longText(),
    values: [baseline.longText(), other.longText()] as const,
    depth: comparison.at("depth").number(),
    threshold: comparison.at("threshold").number(),
    prefill: readAnswer(comparison.at("prefill")),
    generation: readAnswer(comparison.at("generation")),
    agreement: comparison.at("agreement").ifFits((value) => ({
      agreed: value.at("agreed").number(),
      of: value.at("of").number(),
    })),
  });
}

function readAnswer(answer: Wire): ComparisonAnswer {
  const text = (value: Wire): Text => value.is(isText, "a sentence");
  const kind = answer.at("kind").oneOf(["faster", "slower", "noDifference", "cannotJudge"]);
  const words = { sentence: text(answer.at("sentence")), notes: answer.at("notes").items().map(text) };
  const number = (name: string): number => answer.at(name).number();
  if (kind === "cannotJudge") return { kind, ...words };
  const change = answer.at("change").ifFits((value) => value.number(-1));
  const known = change === undefined ? {} : { change };
  if (kind === "noDifference") return { kind, withinPercent: number("withinPercent"), ...known, ...words };
  return { kind, lowPercent: number("lowPercent"), highPercent: number("highPercent"), ...known, ...words };
}

export function readDrift(drift: Wire): Drift {
  return {
    kind: drift.at("kind").oneOf(["stable", "drift", "invalid"]),
    change: drift.at("change").number(),
  };
}

export function readStep(step: Wire): CostStep {
  return {
    depth: step.at("depth").number(),
    ratio: step.at("ratio").number(),
    kind: step.at("kind").oneOf(["interference", "knee"]),
  };
}
