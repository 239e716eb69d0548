import type { AcceptanceReport } from "../../src/core/acceptance/acceptanceReport";
import { known, unknown } from "../../src/core/known";
import type { MemoryReport } from "../../src/core/memory/budget/memoryReport";
import type { DepthCurve } from "../../src/core/prefill/depthCurve";
import { predict } from "../../src/core/prefill/predict";
import type { Prediction } from "../../src/core/prefill/prediction";
import type { GaugeReport } from "../../src/core/report/gaugeReport";
import { reportWithout } from "../../src/core/report/fileChoice";
import { judge } from "../../src/core/report/verdict";
import { waitOf } from "../../src/core/report/wait";
import { say } from "../../src/core/text";
import { defaultPackTemplate } from "../../src/core/tokens/pack";
import type { SkippedFile } from "../../src/core/files/files";
import type { CountedFile } from "../../src/core/tokens/tokenCount";

/** Reports as the surfaces get them, made by hand: the machine of a user's own measurements with a 35B model. */

const fileTokens: Readonly<Record<string, number>> = {
  "src/server/server.cpp": 4210,
  "src/server/slots.cpp": 2890,
  "src/server/tokenize.cpp": 2120,
  "src/server/chat-template.cpp": 1985,
  "src/server/routes/completion.cpp": 1640,
  "src/server/routes/props.cpp": 980,
  "src/util/log.cpp": 870,
  "src/util/日本語のメモ.md": 412,
  "tests/slots.test.cpp": 1340,
  "package-lock.json": 1610,
  "README.md": 905,
  LICENSE: 250,
};

export const sampleFiles: readonly CountedFile[] = Object.entries(fileTokens).map(([label, tokens]) => ({
  file: { path: `/home/ada/harbour/${label}`, label, bytes: Math.round(tokens * 3.7), mtimeMs: 0 },
  tokens,
}));

const skipped: readonly SkippedFile[] = [
  {
    path: "/home/ada/harbour/node_modules",
    label: "node_modules",
    reason: "ignored",
    folder: true,
    detail: ".gitignore: node_modules/",
  },
  { path: "/home/ada/harbour/media/logo.png", label: "media/logo.png", reason: "binary", folder: false },
  { path: "/home/ada/harbour/run.fifo", label: "run.fifo", reason: "notAFile", folder: false },
];

export const sampleTokens = sampleFiles.reduce((sum, { tokens }) => sum + tokens, 0);

const acceptance: AcceptanceReport = {
  accepted: true,
  promptTokens: sampleTokens + 216 + 12,
  exact: true,
  parts: { files: sampleTokens, packing: 216, template: 12 },
  nCtxPerSlot: 32_512,
  answerRoom: 32_512 - (sampleTokens + 216 + 12),
  answerReserve: 2048,
  reasons: [],
};

const GiB = 2 ** 30;

export const twoDevices: MemoryReport = {
  source: "computed",
  context: { nCtx: 65_536, nCtxPerSlot: 65_536, slots: 4, unified: true },
  kv: [{ cache: "full", layers: 10, cells: 65_536, typeK: "f16", typeV: "f16", bytes: 1.25 * GiB }],
  recurrentBytes: 0.25 * GiB,
  devices: [
    {
      name: "CUDA0",
      modelBytes: 11.4 * GiB,
      contextBytes: 0.9 * GiB,
      computeBytes: 0.4 * GiB,
      totalBytes: 12.7 * GiB,
      freeBytes: 23.2 * GiB,
    },
    {
      name: "CUDA1",
      modelBytes: 8.3 * GiB,
      contextBytes: 0.6 * GiB,
      computeBytes: 0.3 * GiB,
      totalBytes: 9.2 * GiB,
      freeBytes: 11.1 * GiB,
    },
    { name: "CPU", modelBytes: 0.5 * GiB, contextBytes: 0, computeBytes: 0.14 * GiB, totalBytes: 0.64 * GiB },
  ],
  totalBytes: 22.54 * GiB,
  interval: { lowBytes: 22.3 * GiB, highBytes: 22.8 * GiB },
  bytesPerToken: 22_632,
  verdict: "fits",
  warnings: [],
};

/** A user's chunks of 8,192 tokens at three depths. */
export const sampleCurve: DepthCurve = {
  key: { model: "Qwen3.6-35B-A3B", build: "b11669", flags: "-ctk f16 -ctv f16 -b 8192" },
  points: [
    { depth: 0, tokens: 8192, seconds: 26.1 },
    { depth: 32_768, tokens: 8192, seconds: 62.5 },
    { depth: 65_536, tokens: 8192, seconds: 95.1 },
  ],
  generation: [
    { depth: 0, tokensPerSecond: 17.2 },
    { depth: 32_768, tokensPerSecond: 14.8 },
  ],
};

const noCurve: Prediction = {
  known: false,
  reason: say`No speed has been measured with llama-server's defaults.`,
};

type Changes = Partial<Omit<GaugeReport, "verdict" | "limit" | "wait">> & {
  readonly patienceSeconds?: number;
};

/** A report with a running server and nothing else known, changed as given; its verdict follows. */
export function sampleReport(changes: Changes = {}): GaugeReport {
  const { patienceSeconds, ...changed } = changes;
  const parts: Omit<GaugeReport, "verdict" | "limit" | "wait"> = {
    revision: 1,
    createdAt: Date.UTC(2026, 10, 29, 12, 30),
    scope: { label: "harbour", roots: ["/home/ada/harbour"] },
    of: { model: "Qwen3.6-35B-A3B", options: {}, build: "b11669-Debian", day: "2026-11-29" },
    tokens: {
      tokens: sampleTokens,
      tokenizer: { source: "server", model: "Qwen3.6-35B-A3B" },
      files: sampleFiles,
      skipped,
      seconds: 0.4,
      notes: [],
    },
    server: known({
      url: "http://127.0.0.1:9931",
      build: "b11669-Debian",
      role: "single",
      model: { id: "Qwen3.6-35B-A3B-UD-Q4_K_XL.gguf" },
      nCtxPerSlot: 32_512,
      totalSlots: 4,
      sleeping: false,
      hasVision: false,
    }),
    model: known({ name: "Qwen3.6-35B-A3B UD-Q4_K_XL", provenance: "reported" }),
    acceptance,
    memory: unknown(
      say`The server's model file is not on this machine.`,
      say`Choose the model's file to see its memory.`,
    ),
    prefill: noCurve,
    pack: defaultPackTemplate,
    notes: [],
    ...changed,
  };
  const wait = waitOf({ ...parts, ...(patienceSeconds !== undefined && { patienceSeconds }) });
  const limit = limitOf(parts.acceptance);
  return { ...parts, wait, limit, verdict: judge({ ...parts, limit, wait }) };
}

function limitOf({ nCtxPerSlot }: AcceptanceReport): GaugeReport["limit"] {
  if (nCtxPerSlot === null) return unknown(say`No model is known.`, say`Choose a GGUF file.`);
  const quiet = { slots: 4, busySlots: 0, sleeping: false, fitMayReduce: false } as const;
  return known({ nCtxPerSlot, provenance: "reported", ...quiet });
}

export const everythingKnown = (): GaugeReport =>
  sampleReport({
    memory: known(twoDevices),
    prefill: predict(sampleCurve, { tokens: acceptance.promptTokens }),
    curve: sampleCurve,
  });

/** The same files against a context of 16,384. */
export const tooLong = (): GaugeReport =>
  sampleReport({
    memory: known(twoDevices),
    acceptance: { ...acceptance, accepted: false, nCtxPerSlot: 16_384, answerRoom: 0 },
  });

/** The same files against a context that leaves less for the answer than was asked for. */
export const tight = (): GaugeReport =>
  sampleReport({
    memory: known(twoDevices),
    acceptance: { ...acceptance, nCtxPerSlot: 20_480, answerRoom: 20_480 - acceptance.promptTokens },
    prefill: predict(sampleCurve, { tokens: acceptance.promptTokens }),
    curve: sampleCurve,
  });

/** Read in time by nobody who waits 30 s. */
export const slow = (): GaugeReport =>
  sampleReport({
    memory: known(twoDevices),
    prefill: predict(sampleCurve, { tokens: acceptance.promptTokens }),
    curve: sampleCurve,
    patienceSeconds: 30,
  });

/** A first device that is smaller than its share. */
export const tooLarge = (): GaugeReport => {
  const devices = twoDevices.devices.map((device) =>
    device.name === "CUDA0" ? { ...device, freeBytes: 10.9 * GiB } : device,
  );
  return sampleReport({ memory: known({ ...twoDevices, devices, verdict: "exceeds" }) });
};

/** Files that a prompt may do without are marked, and some are out of it, so that the rest fits. */
export const partly = (): GaugeReport => {
  const report = tooLong();
  const files = report.tokens.files.map((counted) => {
    const { label } = counted.file;
    if (label === "package-lock.json") {
      return { ...counted, mark: { kind: "lock", evidence: say`${label} is a lock file.` } } as const;
    }
    return counted;
  });
  const out = ["package-lock.json", "tests/slots.test.cpp", "src/util/log.cpp", "src/server/tokenize.cpp"];
  const leftOut = new Set(out.map((label) => `/home/ada/harbour/${label}`));
  return reportWithout({ ...report, tokens: { ...report.tokens, files } }, leftOut);
};

/** Nothing configured and nothing running. */
export const nothingKnown = (): GaugeReport =>
  sampleReport({
    tokens: {
      ...sampleReport().tokens,
      tokenizer: { source: "assumed", model: "bytes", relativeError: 0.4 },
    },
    server: unknown(
      say`No llama-server responds on this machine.`,
      say`Start llama-server, or choose the address of yours.`,
    ),
    model: unknown(say`No model is known.`, say`Choose a GGUF file.`),
    acceptance: { ...acceptance, accepted: null, exact: false, nCtxPerSlot: null, answerRoom: null },
    memory: unknown(say`No model is known.`, say`Choose a GGUF file.`),
  });
