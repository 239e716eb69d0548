import { describe, expect, it } from "vitest";
import type { AcceptanceReport } from "../../../../src/core/acceptance/acceptanceReport";
import type { ServerFacts } from "../../../../src/core/acceptance/serverFacts";
import { formatText } from "../../../../src/core/format";
import { known, unknown } from "../../../../src/core/known";
import type { MemoryReport, MemoryVerdict } from "../../../../src/core/memory/budget/memoryReport";
import { judge, type VerdictInputs } from "../../../../src/core/report/verdict";
import { waitOf } from "../../../../src/core/report/wait";
import { say } from "../../../../src/core/text";

const acceptance: AcceptanceReport = {
  accepted: true,
  promptTokens: 19_840,
  exact: true,
  parts: { files: 19_212, packing: 216, template: 412 },
  nCtxPerSlot: 32_512,
  answerRoom: 12_672,
  answerReserve: 2_048,
  reasons: [],
};

const server: ServerFacts = {
  url: "http://127.0.0.1:9931",
  role: "single",
  model: { id: "m" },
  nCtxPerSlot: 32_512,
  totalSlots: 1,
  sleeping: false,
  hasVision: false,
};

const memory = (verdict: MemoryVerdict): MemoryReport => ({
  source: "computed",
  context: { nCtx: 32_512, nCtxPerSlot: 32_512, slots: 1, unified: true },
  kv: [],
  recurrentBytes: 0,
  devices: [],
  totalBytes: 0,
  interval: { lowBytes: 0, highBytes: 0 },
  bytesPerToken: 0,
  verdict,
  warnings: [],
});

const limited = (trainingContext: number): VerdictInputs["limit"] =>
  known({
    ...{ nCtxPerSlot: 32_512, trainingContext, provenance: "reported", slots: 1 },
    ...{ busySlots: 0, sleeping: false, fitMayReduce: false },
  });

const inputs: VerdictInputs = {
  acceptance,
  limit: limited(262_144),
  server: known(server),
  memory: unknown(say`no model`, say`Choose a model.`),
  prefill: { known: false, reason: say`Run a depth probe.` },
  wait: {},
};

const slowRead = {
  known: true,
  seconds: 1291,
  lowSeconds: 1056,
  highSeconds: 1451,
  generationTokensPerSecond: 9.72,
  basis: { deepestDepth: 114_688, points: 4 },
} as const;
const waiting = (patienceSeconds: number): Partial<VerdictInputs> => ({
  prefill: slowRead,
  wait: waitOf({ acceptance, prefill: slowRead, patienceSeconds }),
});

describe("verdict", () => {
  it("says in one sentence that it fits and how long it takes", () => {
    const verdict = judge({
      ...inputs,
      prefill: {
        known: true,
        seconds: 98,
        lowSeconds: 89,
        highSeconds: 112,
        generationTokensPerSecond: 15.6,
        basis: { deepestDepth: 16_384, points: 4 },
      },
    });
    expect(verdict.kind).toBe("fits");
    expect(formatText(verdict.sentence)).toBe(
      "Fits. 19,840 of 32,512 tokens · ≈ 98 s to first token (89 s – 112 s) · 15.6 t/s after",
    );
  });

  it("counts how many tokens are too many: the last accepted prompt is one below the context", () => {
    const verdict = judge({
      ...inputs,
      acceptance: { ...acceptance, accepted: false, promptTokens: 32_512, answerRoom: 0 },
    });
    expect(verdict.kind).toBe("exceedsContext");
    expect(formatText(verdict.sentence)).toBe("Does not fit. 32,512 of 32,512 tokens: 1 too many.");
  });

  it("is slow where the first token comes later than the user would wait", () => {
    const verdict = judge({ ...inputs, ...waiting(300) });
    expect(verdict.kind).toBe("slow");
    expect(formatText(verdict.sentence)).toBe(
      "Fits, but 21.5 min to the first token (17.6 min – 24.2 min). 19,840 of 32,512 tokens · 9.7 t/s after",
    );
    expect(judge({ ...inputs, ...waiting(1300) }).kind).toBe("fits");
    expect(judge({ ...inputs, ...waiting(0) }).kind).toBe("fits");
  });

  it("is not slow where it does not even work", () => {
    const late = { ...inputs, ...waiting(300) };
    expect(judge({ ...late, acceptance: { ...acceptance, answerRoom: 1 } }).kind).toBe("tight");
    expect(judge({ ...late, acceptance: { ...acceptance, accepted: false } }).kind).toBe("exceedsContext");
  });

  it("names clients that give up earlier even at best, and only those", () => {
    const reasons = (verdict: ReturnType<typeof judge>): string =>
      verdict.reasons.map((reason) => formatText(reason)).join(" ");
    const readBy = (build: string, lowSeconds = 1056): string => {
      const prefill = { ...slowRead, lowSeconds };
      return reasons(judge({ ...inputs, prefill, wait: waitOf({ acceptance, prefill, build }) }));
    };
    // before the pings of b9478 (llama.cpp #24013) a stream was silent until the first token
    expect(readBy("b9477")).toMatch(/^Nothing arrives.*17\.6 min.*Node\.js \(300 s\).*Cline \(300 s\)/);
    expect(readBy("b9477", 599)).not.toContain("600 s");
    expect(readBy("b9477", 299)).toBe("");
    expect(readBy("b9478")).toMatch(/^Stream the answer.*17\.6 min.*Node\.js \(300 s\)/);
    expect(readBy("b9478")).not.toContain("Cline");
  });

  it("does not advise a larger -c where the model was trained for less than the prompt", () => {
    const beyond = { ...acceptance, accepted: false, promptTokens: 40_000 };
    const steps = (trained: number): string =>
      judge({ ...inputs, acceptance: beyond, limit: limited(trained) })
        .remedies.map((step) => formatText(step))
        .join();
    expect(steps(262_144)).toContain("start llama-server with a larger -c");
    expect(steps(32_768)).toContain("a larger -c does not give one request more");
  });

  it("is tight when the answer has less room than wanted", () => {
    expect(judge({ ...inputs, acceptance: { ...acceptance, answerRoom: 2_047 } }).kind).toBe("tight");
  });

  it.each([
    ["exceeds", "exceedsMemory"],
    ["tight", "tight"],
    ["fits", "fits"],
    ["unknown", "fits"],
  ] as const)("without a server, memory that %s makes it %s", (held, kind) => {
    const offline = { ...inputs, server: unknown(say`no server`, say`Start one.`) };
    expect(judge({ ...offline, memory: known(memory(held)) }).kind).toBe(kind);
  });

  it("believes a running server more than a formula", () => {
    expect(judge({ ...inputs, memory: known(memory("exceeds")) }).kind).toBe("fits");
    const text = say`It runs, so a part is swapped out.`;
    const judged = (verdict: "tight" | "unknown"): ReturnType<typeof judge> =>
      judge({ ...inputs, memory: known(memory("exceeds")), beside: { verdict, text } });
    expect(judged("tight")).toMatchObject({ kind: "tight", reasons: [text] });
    expect(judged("unknown")).toMatchObject({ kind: "fits", reasons: [text] });
  });

  it("does not guess without a context, and names the next step", () => {
    const verdict = judge({
      ...inputs,
      server: unknown(say`no server`, say`Start one.`),
      acceptance: { ...acceptance, exact: false, accepted: null, nCtxPerSlot: null, answerRoom: null },
    });
    expect(verdict.kind).toBe("unknown");
    expect(formatText(verdict.sentence)).toBe("≈ 19,840 tokens. Whether they fit is not known yet.");
    expect(verdict.remedies.map((step) => formatText(step))).toContain("Start one.");
  });
});
