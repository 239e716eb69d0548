import type { GaugeState } from "../../src/core/report/gaugeState";
import { say } from "../../src/core/text";
import {
  everythingKnown,
  nothingKnown,
  partly,
  sampleReport,
  tight,
  tooLarge,
  tooLong,
} from "./sampleReports";

const failure = {
  problem: say`The server at ${"http://127.0.0.1:9931"} does not answer.`,
  remedy: say`Start llama-server, or choose another.`,
};
const counting = { stage: "counting", filesDone: 31, filesFound: 48, tokens: 12_345 } as const;
const listing = { stage: "listing", filesDone: 0, filesFound: 0, tokens: 0 } as const;

/** Every state the surfaces can be in, by name. */
export const sampleStates = {
  idle: () => ({ status: "idle" }),
  listing: () => ({ status: "counting", progress: listing }),
  counting: () => ({ status: "counting", progress: counting, last: sampleReport() }),
  fits: () => ({ status: "ready", report: everythingKnown(), stale: false }),
  serverOnly: () => ({ status: "ready", report: sampleReport(), stale: false }),
  noServer: () => ({ status: "ready", report: nothingKnown(), stale: false }),
  tooLong: () => ({ status: "ready", report: tooLong(), stale: false }),
  tight: () => ({ status: "ready", report: tight(), stale: false }),
  tooLarge: () => ({ status: "ready", report: tooLarge(), stale: false }),
  partly: () => ({ status: "ready", report: partly(), stale: false }),
  stale: () => ({ status: "ready", report: everythingKnown(), stale: true }),
  failed: () => ({ status: "failed", failure }),
  failedWithReport: () => ({ status: "failed", failure, last: sampleReport() }),
} satisfies Record<string, () => GaugeState>;

export type SampleState = keyof typeof sampleStates;
export const sampleStateNames = Object.keys(sampleStates) as readonly SampleState[];
