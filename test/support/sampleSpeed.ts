import type { CurveOrigin } from "../../src/core/history/curveChoice";
import type { SpeedState } from "../../src/core/report/speedState";
import type { RunSummary } from "../../src/core/history/runSummary";
import type { GaugeReport } from "../../src/core/report/gaugeReport";
import { predict } from "../../src/core/prefill/predict";
import { secondQuestion } from "../../src/core/prefill/secondQuestion";
import { count, say, seconds } from "../../src/core/text";
import { everythingKnown, sampleCurve, sampleReport } from "./sampleReports";

/** Speed as the surfaces get it, made by hand around a user's own curve. */

const measuredAt = Date.UTC(2026, 10, 26, 12, 30);

export const disturbedOrigin: CurveOrigin = {
  id: "run-2",
  kind: "probe",
  tool: "llama-server",
  measuredAt,
  seconds: 58,
  monitor: {
    verdict: "contaminated",
    events: [
      {
        kind: "foreignCpu",
        who: [{ pid: 4711, name: "cargo", cpu: 0.4 }],
        share: 0.41,
        fromSeconds: 20,
        toSeconds: 31,
      },
    ],
    samples: 58,
  },
  drift: { kind: "drift", change: 0.034 },
  steps: [],
  sameBuild: true,
  requests: 0,
  factor: 1,
};

/** The report with its curve's origin and the second question, three days after the probe. */
export function measuredReport(origin: CurveOrigin = disturbedOrigin): GaugeReport {
  const report = everythingKnown();
  const keeping = { memory: { kind: "recurrent" }, ubatch: 512, forgets: false } as const;
  return {
    ...report,
    origin,
    second: secondQuestion(keeping, sampleCurve, report.acceptance.promptTokens),
  };
}

/** A prompt far behind what a knee-prone setup was probed to. */
export function beyondProbe(): GaugeReport {
  const curve = {
    ...sampleCurve,
    key: { ...sampleCurve.key, backend: "Vulkan", hardware: "AMD Radeon 8060S (RADV)" },
    points: sampleCurve.points.slice(0, 1),
  };
  const { acceptance } = everythingKnown();
  return sampleReport({ curve, prefill: predict(curve, { tokens: acceptance.promptTokens }) });
}

const run = (id: string, changes: Partial<RunSummary>): RunSummary => ({
  id,
  kind: "probe",
  at: measuredAt,
  model: "/models/Qwen3.6-35B-A3B-UD-Q4_K_XL.gguf",
  build: "b11669",
  flags: "-ctk f16 -ctv f16 -b 8192",
  deepest: 73_728,
  first: 26.1 / 8192,
  last: 95.1 / 8192,
  verdict: "clean",
  notes: [],
  ...changes,
});

export const someRuns: SpeedState = {
  runs: [
    run("run-2", { verdict: "contaminated", notes: [say`${"cargo (4711)"} and others used the CPU`] }),
    run("base", { kind: "baseline", label: "before the update", at: measuredAt - 86_400_000 }),
  ],
  unreadable: 1,
};

export const probing: SpeedState = {
  ...someRuns,
  running: {
    title: say`Measuring prefill by depth`,
    plan: say`The probe will read ${count(16_384)} token[s]; about ${seconds(48)}.`,
    progress: { phase: "measuring", share: 0.4, remainingSeconds: 31, depth: 8192 },
  },
};

export const compared: SpeedState = {
  ...someRuns,
  comparison: {
    results: [
      {
        option: "-ctk",
        values: ["f16", "q8_0"],
        depth: 16_384,
        threshold: 0.01,
        prefill: {
          kind: "slower",
          lowPercent: 4.1,
          highPercent: 6.3,
          sentence: say`Slower by ${{ unit: "percent", value: 4.1 }} to ${{ unit: "percent", value: 6.3 }} (${say`prefill`} at depth ${count(16_384)}).`,
          notes: [say`${count(93)} of ${count(96)} token[s] of greedy answers are the same.`],
        },
        generation: {
          kind: "cannotJudge",
          sentence: say`Cannot be determined right now: ${say`it was stopped`}`,
          notes: [],
        },
      },
    ],
    conclusions: [],
  },
  baseline: {
    differs: ["build"],
    sentence: say`Prefill at ${count(16_384)} token[s] takes ${{ unit: "percent", value: 35 }} longer than the baseline.`,
    rows: [
      { depth: 0, prefillChange: 0.12, generationChange: 0.02 },
      { depth: 16_384, prefillChange: 0.35 },
    ],
  },
};

export const reading: SpeedState = {
  ...someRuns,
  live: {
    processed: 8192,
    total: 19_440,
    assumed: true,
    remaining: predict(sampleCurve, { tokens: 11_248, cached: 8192 }),
  },
};
