/** A report about a real model's header, with everything that is needed to try other launch options on it. */
import type { LaunchChange } from "../../src/core/launch/launchChange";
import { parseArguments } from "../../src/core/launch/commandLine";
import { budgets } from "../../src/core/memory/budget/budgets";
import type { MemoryDevice } from "../../src/core/memory/devices/memoryDevice";
import { known } from "../../src/core/known";
import type { Model } from "../../src/core/model/model";
import { predict } from "../../src/core/prefill/predict";
import { tryableOptions } from "../../src/core/report/tryableOptions";
import type { GaugeReport } from "../../src/core/report/gaugeReport";
import { whatIf, type Judged, type WhatIfSituation } from "../../src/core/report/whatIf";
import { sampleCurve, sampleReport } from "./sampleReports";
import { sampleSituation } from "./sampleSituation";

const GiB = 2 ** 30;

export const oneDevice: readonly MemoryDevice[] = [
  { name: "CUDA0", freeBytes: 23 * GiB, totalBytes: 24 * GiB },
  { name: "Host", freeBytes: 40 * GiB, totalBytes: 64 * GiB },
];

export const twoUnequalDevices: readonly MemoryDevice[] = [
  { name: "RPC0", freeBytes: 14 * GiB, totalBytes: 16 * GiB },
  { name: "RPC1", freeBytes: 11 * GiB, totalBytes: 12 * GiB },
  { name: "Host", freeBytes: 40 * GiB, totalBytes: 64 * GiB },
];

export interface WhatIfSample {
  readonly report: GaugeReport;
  readonly situation: WhatIfSituation;
  readonly tried: (change: LaunchChange) => Judged;
}

export function whatIfSample(
  model: Model,
  commandLine: readonly string[],
  devices: readonly MemoryDevice[],
): WhatIfSample {
  const { options: launch } = parseArguments(commandLine);
  const made = budgets({ model, devices, settings: {} });
  const memory = made.of(launch);
  const base = sampleReport();
  const situation = sampleSituation({ model: known(model), launch, budgets: made });
  const nCtxPerSlot = memory.context.nCtxPerSlot;
  const { acceptance } = base;
  const report = sampleReport({
    memory: known(memory),
    acceptance: { ...acceptance, nCtxPerSlot, answerRoom: nCtxPerSlot - acceptance.promptTokens },
    prefill: predict(sampleCurve, { tokens: acceptance.promptTokens }),
    curve: sampleCurve,
    knobs: tryableOptions(model, launch, memory, undefined),
  });
  return {
    report,
    situation,
    tried: (change) => {
      const judged = whatIf(report, situation, change);
      if (judged === undefined) throw new Error("nothing can be tried");
      return judged;
    },
  };
}
