/** Random prompts for random launches of real models' headers on made-up machines. */
import { limitOfLaunch } from "../../src/core/acceptance/acceptance";
import { parseArguments } from "../../src/core/launch/commandLine";
import type { LaunchOptions } from "../../src/core/launch/launchOptions";
import { slotContext } from "../../src/core/launch/slotContext";
import { known, unknown, type Known } from "../../src/core/known";
import { speedFlags } from "../../src/core/llamaBench/benchArguments";
import { budgets, type Budgets } from "../../src/core/memory/budget/budgets";
import type { MemoryDevice } from "../../src/core/memory/devices/memoryDevice";
import type { Model } from "../../src/core/model/model";
import type { DepthCurve } from "../../src/core/prefill/depthCurve";
import type { GaugeReport } from "../../src/core/report/gaugeReport";
import { judgement } from "../../src/core/report/judgement";
import { tryableOptions } from "../../src/core/report/tryableOptions";
import type { WhatIfSituation } from "../../src/core/report/whatIf";
import { say } from "../../src/core/text";
import type { CountedFile } from "../../src/core/tokens/tokenCount";
import { sampleReport } from "./sampleReports";
import { sampleSituation } from "./sampleSituation";
import type { SeededRandom } from "./seededRandom";

const GiB = 2 ** 30;
const nothingRuns = unknown(say`No server.`, say`Start one.`);

export interface PromptSetup {
  readonly name: string;
  readonly argv: readonly string[];
  readonly report: GaugeReport;
  readonly situation: WhatIfSituation;
  /** The report that an estimate of these files would give for these arguments. */
  readonly estimated: (argv: readonly string[], leftOut: ReadonlySet<string>) => GaugeReport;
}

/** Tokens of a file's heading and fence; all files have names of one length. */
const packing = 9;

export function randomSetup(models: ReadonlyMap<string, Model>, random: SeededRandom): PromptSetup {
  const [name, model] = random.pick([...models]);
  const devices = randomDevices(random);
  const argv = randomArguments(model, devices.length > 1, random);
  const files = randomFiles(random);
  const answerReserve = random.pick([0, 512, 2048, 8192]);
  const relativeError = random.below(4) === 0 ? 0.06 : undefined;
  const patienceSeconds = random.pick([0, 60, 300]);
  const made = budgets({ model, devices, settings: {} });
  const { options: launch } = parseArguments(argv);
  const curves = random.below(2) === 0 ? randomCurves(launch, random) : [];
  const curveOf = (its: LaunchOptions): Known<DepthCurve> => {
    const curve = curves.find(({ key }) => key.flags === speedFlags(its));
    return curve === undefined ? unknown(say`Nothing measured.`, say`Probe.`) : known(curve);
  };
  const situation = sampleSituation({ model: known(model), launch, budgets: made, curveOf });
  const estimated = (its: readonly string[], leftOut: ReadonlySet<string>): GaugeReport => {
    const { options, problems } = parseArguments(its);
    if (problems.some(({ severity }) => severity === "error")) throw new Error(`${its.join(" ")} is refused`);
    const memory = made.of(options);
    const slot = slotContext(options, model);
    const sent = files.filter(({ file }) => !leftOut.has(file.path));
    const total = sent.reduce((sum, file) => sum + file.tokens, 0);
    const curve = curveOf(options);
    const base = baseReport(files, made, options, model, relativeError);
    return {
      ...base,
      ...judgement({
        prompt: { files: total, packing: packing * sent.length, template: 12 },
        ...(relativeError !== undefined && { relativeError }),
        limit: known({
          ...limitOfLaunch(slot),
          nCtxPerSlot: Math.min(slot.nCtxPerSlot, memory.context.nCtxPerSlot),
        }),
        answerReserve,
        notes: [],
        server: nothingRuns,
        memory: known(memory),
        patienceSeconds,
        speed: curve.known ? curve.value : { unmeasured: curve.why },
      }),
      curves: curves.map((each) => ({ curve: each, origin: originOf(each) })),
    };
  };
  return {
    name: `${name} ${argv.join(" ")} on ${devices.map((d) => `${d.name} ${(d.freeBytes / GiB).toFixed(1)}`).join(", ")}`,
    argv,
    report: estimated(argv, new Set()),
    situation,
    estimated,
  };
}

function baseReport(
  files: readonly CountedFile[],
  made: Budgets,
  launch: LaunchOptions,
  model: Model,
  relativeError: number | undefined,
): GaugeReport {
  const { second: _, curve: __, ...rest } = sampleReport({ server: nothingRuns });
  return {
    ...rest,
    tokens: {
      ...rest.tokens,
      files,
      tokens: files.reduce((sum, file) => sum + file.tokens, 0),
      tokenizer:
        relativeError === undefined
          ? { source: "gguf", model: "made up" }
          : { source: "assumed", model: "made up", relativeError },
    },
    knobs: tryableOptions(model, launch, made.of(launch), undefined),
  };
}

function randomDevices(random: SeededRandom): readonly MemoryDevice[] {
  const host = { name: "Host", freeBytes: random.pick([8, 24, 60, 200]) * GiB, totalBytes: 256 * GiB };
  const one = (name: string): MemoryDevice => {
    const gib = random.pick([6, 8, 12, 16, 24, 32, 48]);
    return { name, freeBytes: gib * GiB - random.below(GiB), totalBytes: gib * GiB };
  };
  switch (random.below(4)) {
    case 0:
      return [host];
    case 1:
      return [one("CUDA0"), one("CUDA1"), host];
    default:
      return [one(random.pick(["CUDA0", "MTL0", "Vulkan0"])), host];
  }
}

function randomArguments(model: Model, gpu: boolean, random: SeededRandom): readonly string[] {
  const some = (share: number, ...words: readonly string[]): readonly string[] =>
    random.below(100) < share ? words : [];
  const type = random.pick(["f16", "q8_0", "f16", "q4_0"]);
  return [
    ...some(85, "-c", String(random.pick([2048, 8192, 16_384, 32_768, 65_536, 131_072, 262_144]))),
    ...some(60, "-np", String(random.pick([1, 1, 2, 4, 8]))),
    ...some(15, "-kvu"),
    ...some(10, "--kv-unified-per-slot", String(random.pick([4096, 20_000]))),
    ...some(30, "-ctk", type, "-ctv", type),
    ...some(20, "-ub", String(random.pick([128, 1024, 2048]))),
    ...some(gpu ? 40 : 0, "-ngl", random.pick(["99", "99", String(random.below(model.layers.length))])),
    ...some(gpu && model.experts !== undefined ? 20 : 0, "-ncmoe", String(random.below(8))),
    ...some(15, "-fit", "off"),
    ...some(10, "--rope-scaling", "yarn", "--rope-scale", "2"),
  ];
}

function randomFiles(random: SeededRandom): readonly CountedFile[] {
  const size = random.pick([300, 3000, 12_000, 40_000]);
  return Array.from({ length: 1 + random.below(24) }, (_, i): CountedFile => {
    const label = `file${String(i).padStart(2, "0")}.md`;
    const tokens = 1 + random.below(size);
    return {
      file: { path: `/w/${label}`, label, bytes: tokens * 4, mtimeMs: 0 },
      tokens,
      ...(random.below(5) === 0 && { mark: { kind: "lock", evidence: say`Made up.` } }),
    };
  });
}

function randomCurves(launch: LaunchOptions, random: SeededRandom): readonly DepthCurve[] {
  const cost = random.pick([1e-4, 1e-3, 4e-3]);
  const others: readonly LaunchOptions[] = [
    {},
    { ubatchSize: 1024 },
    { cacheTypeK: "q8_0", cacheTypeV: "q8_0" },
  ];
  return others.map((change) => {
    const slope = cost * (0.4 + random.below(10) / 10);
    return {
      key: { model: "made up", build: "b11669", flags: speedFlags({ ...launch, ...change }) },
      points: [0, 16_384, 32_768, 65_536].map((depth) => ({
        depth,
        tokens: 2048,
        seconds: 2048 * slope * (1 + depth / 65_536),
      })),
      generation: [],
    };
  });
}

const originOf = (curve: DepthCurve) => ({
  id: curve.key.flags,
  kind: "probe" as const,
  tool: "llama-server",
  measuredAt: 0,
  sameBuild: true,
  requests: 0,
  factor: 1,
});
