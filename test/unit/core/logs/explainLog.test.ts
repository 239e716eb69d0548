import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { formatText } from "../../../../src/core/format";
import { contextExplanations } from "../../../../src/core/logs/contextExplanations";
import { explainLines, explainLog, type ExplainedLog } from "../../../../src/core/logs/explainLog";
import { FactReader } from "../../../../src/core/logs/reading/factReader";
import { explainLine } from "../../../../src/core/logs/logHover";
import { logLines, type LogLine } from "../../../../src/core/logs/reading/logLine";
import { logPhases } from "../../../../src/core/logs/logPhases";
import { memoryExplanations } from "../../../../src/core/logs/memoryExplanations";
import { startExplanations } from "../../../../src/core/logs/startExplanations";
import { UserError } from "../../../../src/core/userError";
import { growth, milliseconds } from "../../../support/growth";

const fixtures = path.join(import.meta.dirname, "../../../fixtures/logs");
const read = (name: string): string => readFileSync(path.join(fixtures, name), "utf8");
const mib = (bytes: number): number => Number((bytes / 2 ** 20).toFixed(2));
const kinds = ({ events }: ExplainedLog): string[] => events.map(({ kind }) => kind);

interface Failure {
  readonly id: string;
  readonly message: string;
}
const failures = JSON.parse(read("failures.json")) as readonly Failure[];

/** What each public failure turned out to be, from its thread. */
const expected: Readonly<Record<string, string>> = {
  "err-v-quant-2023-cuda-invalid-arg": "quantisedVNotImplemented",
  "err-np3-oom-262k": "outOfMemory",
  "err-vulkan-4gib-single-buffer": "singleAllocationLimit",
  "err-kv-alloc-128gib-1M-ctx": "hostOutOfMemory",
  "err-v-quant-grok-ollama": "quantisedVWithoutFlashAttn",
  "err-vulkan-ctk-compute-grows": "singleAllocationLimit",
  "err-checkpoints-lmstudio-host-oom": "killedBySystem",
  "err-vmm-address-reserve-windows": "addressSpace",
  "err-v-quant-needs-fa-new": "quantisedVNeedsFlashAttn",
  "err-v-quant-needs-fa-lmstudio-glm47": "quantisedVNeedsFlashAttn",
  "err-vulkan-oom-1gb-alloc": "deviceOutOfMemory",
  "err-vram-other-consumers": "runtimeOutOfMemory",
  "err-nkvo-kv-still-on-gpu": "computeWithoutFlashAttn",
  "err-v-quant-needs-fa-old": "quantisedVNeedsFlashAttn",
  "err-oom-smallest-gpu": "computeOutOfMemory",
  "err-fit-zero-context": "fitZeroContext",
  "err-gdn-chunked-disabled-partial-offload": "fusedKernelDisabled",
  "err-swa-full-still-reprocesses": "promptReadAgain",
  "err-fit-context-smaller-pipeline-parallel": "pipelineParallel",
};

describe("failures in public logs", () => {
  it.each(failures.map(({ id, message }) => [id, message]))("explains %s", (id, message) => {
    const explained = explainLog(message);
    expect(kinds(explained)).toContain(expected[id]);
    for (const { cause, remedy } of explained.events) {
      expect(formatText(cause).length).toBeGreaterThan(20);
      expect(formatText(remedy).length).toBeGreaterThan(20);
    }
  });

  it("tells a failed load once, not with every line that follows from it", () => {
    const log = `ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4096.00 MiB on device 0: cudaMalloc failed: out of memory
alloc_tensor_range: failed to allocate CUDA0 buffer of size 4294967296
llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache
common_init_from_params: failed to create context with model 'x.gguf'
srv    load_model: failed to load model, 'x.gguf'
main: exiting due to model loading error`;
    expect(kinds(explainLog(log))).toEqual(["kvOutOfMemory"]);
  });

  it("says what to write for renamed arguments", () => {
    const [event] = explainLog("error: invalid argument: --no-mmap").events;
    expect(event && formatText(event.cause)).toContain("--load-mode none");
  });
});

describe("facts of logs", () => {
  it("reads a build of 2026 with recurrent state and MTP", () => {
    const { facts, totals, events } = explainLog(read("qwen38-27b-mtp-b9849.log"));
    expect(facts).toMatchObject({
      build: "b9849 (799fcc04a)",
      model: {
        architecture: "qwen35",
        name: "Qwen3.8-27B",
        quantisation: "Q5_K - Medium",
        nCtxTrain: 262144,
      },
      offloadedLayers: { offloaded: 62, total: 66 },
      slots: { count: 4, nCtx: 8192, unified: true },
      url: "http://127.0.0.1:39365",
      loaded: true,
    });
    expect(facts.commandLine).toMatch(/--spec-draft-n-max 2$/);
    expect(facts.devices.map(({ name, freeBytes = 0 }) => [name, mib(freeBytes)])).toEqual([
      ["Vulkan0", 23552],
      ["CPU", 128493],
    ]);
    expect(facts.weights.map(({ device, bytes }) => [device, mib(bytes)])).toEqual([
      ["CPU_Mapped", 1710.83],
      ["Vulkan0", 17134.26],
    ]);
    const [target, draft] = facts.contexts;
    expect(facts.contexts).toHaveLength(2);
    expect(target).toMatchObject({ nCtx: 8192, nSeqMax: 4, nUbatch: 2048, flashAttn: "on", nRsSeq: 2 });
    expect(target?.kv).toMatchObject([{ cells: 8192, layers: 16, typeK: "f16", typeV: "f16", streams: 1 }]);
    expect(target?.kv[0]?.devices.map(({ device, bytes }) => [device, mib(bytes)])).toEqual([
      ["CPU", 32],
      ["Vulkan0", 480],
    ]);
    expect(mib(target?.recurrent?.bytes ?? 0)).toBe(1795.5);
    expect(target?.compute.map(({ device, bytes }) => [device, mib(bytes)])).toEqual([
      ["Vulkan0", 625.22],
      ["Vulkan_Host", 313.47],
    ]);
    expect(draft?.compute.map(({ bytes }) => mib(bytes))).toEqual([520.06, 112.07]);
    expect(mib(totals.kvBytes)).toBe(544);
    expect(facts.breakdown.map(({ device, selfBytes }) => [device, mib(selfBytes)])).toEqual([
      ["Vulkan0", 19976],
      ["Host", 2168],
    ]);
    expect(facts.requests).toMatchObject([
      { task: 0, slot: 3, promptTokens: 2015, promptSeconds: 2.49023, cachedTokens: 0, generatedTokens: 512 },
    ]);
    expect(facts.requests[0]?.draftAcceptance).toBe(0.77945);
    expect(events.map(({ kind }) => kind)).toEqual([
      "slotsAutomatic",
      "fitCannotMeet",
      "fusedKernelDisabled",
      "computeGrew",
    ]);
  });

  it("reads a build of 2025 with devices over RPC", () => {
    const { facts, totals } = explainLog(read("llama31-70b-rpc-b6209.log"));
    expect(mib(totals.weightsBytes)).toBe(38110.6);
    expect(mib(totals.kvBytes)).toBe(1280);
    expect(facts.contexts[0]).toMatchObject({
      nCtx: 4096,
      nCtxSeq: 4096,
      flashAttn: "off",
      kvUnified: false,
    });
    expect(facts.contexts[0]?.kv[0]?.devices.map(({ device }) => device)).toEqual([
      "RPC[172.31.27.42:50052]",
      "RPC[172.31.20.38:50052]",
    ]);
    expect(mib(totals.computeBytes)).toBe(1204.03);
  });

  it("reads a build of 2024", () => {
    const { facts, totals, events } = explainLog(read("llama3-8b-2024.log"));
    expect(facts.devices).toEqual([{ name: "CUDA0", description: "NVIDIA GeForce RTX 3090" }]);
    expect(mib(totals.weightsBytes)).toBe(5285.44);
    expect(facts.contexts[0]?.kv).toMatchObject([{ typeK: "iq4_nl", typeV: "f16", cells: 1024 }]);
    expect(mib(totals.computeBytes)).toBe(276.51);
    expect(events).toEqual([]);
  });

  it.each([
    ["containers", (line: string) => `llama-1  | ${line}`],
    ["a journal", (line: string) => `Sep 01 10:00:00 host llama-server[123]: ${line}`],
    ["a router", (line: string) => `[42311] ${line}`],
    ["colours", (line: string) => `\u001b[32m${line}\u001b[0m`],
    ["CRLF", (line: string) => `${line}\r`],
  ])("reads through the prefixes of %s", (_, wrap) => {
    const plain = read("qwen38-27b-mtp-b9849.log");
    const wrapped = plain.split("\n").slice(2).map(wrap).join("\n");
    const without = explainLog(plain.split("\n").slice(2).join("\n"));
    expect(explainLog(wrapped).facts).toEqual(without.facts);
  });

  it("keeps no key of a command line", () => {
    const { facts } = explainLog("# argv: llama-server -m 'a b.gguf' --api-key hunter2 --hf-token=hunter2");
    expect(facts.commandLine).toBe("llama-server -m 'a b.gguf' --api-key ••• --hf-token=•••");
  });

  it("reads JSON lines and decimal commas", () => {
    const line = {
      type: "log",
      time: 16604,
      level: "info",
      msg: "llama_kv_cache:  CUDA0 KV buffer size =   256,00 MiB\n",
    };
    const size = {
      ...line,
      msg: "llama_kv_cache: size =  256,00 MiB (  4096 cells,  16 layers,  1/ 1 seqs), K (f16):  128,00 MiB, V (f16):  128,00 MiB\n",
    };
    const { facts } = explainLog(`${JSON.stringify(line)}\n${JSON.stringify(size)}\n`);
    expect(facts.contexts[0]?.kv).toEqual([
      {
        ...{ cache: "full", bytes: 256 * 2 ** 20, kBytes: 128 * 2 ** 20, vBytes: 128 * 2 ** 20 },
        ...{ typeK: "f16", typeV: "f16", cells: 4096, layers: 16, sequences: 1, streams: 1 },
        devices: [{ device: "CUDA0", bytes: 256 * 2 ** 20 }],
      },
    ]);
  });

  // lines of llama-server build 11669: --host 203.0.113.9; a header of version 99; --lora /no.gguf
  it.each([
    [
      "0.00.015.809 E srv         start: couldn't bind HTTP server socket, hostname: 203.0.113.9, port: 24004",
      ["portInUse", "no such address"],
    ],
    [
      "0.00.023.199 E srv         start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 22193",
      ["portInUse", "Port 22193 is in use"],
    ],
    [
      "0.00.019.326 E gguf_init_from_reader: this GGUF file is version 99 but this software only supports up to version 3\n0.00.019.681 E cmn  common_init_: failed to load model 'badver.gguf'",
      ["fileBroken", "version 99"],
    ],
    [
      "0.00.796.093 E llama_adapter_lora_init: failed to open '/no.gguf': No such file or directory\n0.00.796.143 E cmn  common_init_: failed to load lora adapter '/no.gguf'",
      ["fileMissing", "/no.gguf"],
    ],
  ])("tells why nothing serves: %j", (log, [kind, part = ""]) => {
    const { events } = explainLog(log);
    expect(events.map((event) => event.kind)).toEqual([kind]);
    expect(events[0] && formatText(events[0].cause)).toContain(part);
  });

  it("is quick with long lines and many lines", () => {
    const noise = (lines: number): string =>
      `${"x".repeat(20 * lines)}\n${"slot update_slots: id  0 | task 1 | something\n".repeat(lines)}`;
    const times = growth(noise, (text) => expect(explainLog(text).events).toEqual([]), 50_000);
    expect(times).toBeLessThan(4);
  });

  // what every pattern waits for, again and again, so that each of its places is tried
  const pieces = [...startExplanations, ...memoryExplanations, ...contextExplanations].flatMap(
    ({ pattern }) => pattern.source.split(/\\?[^\w :'-]+/).filter((piece) => piece.length > 2),
  );
  const long = [...pieces, "x", " ", "1", "=", "size = ", "a.b-", "\t"].map((piece) =>
    piece.repeat(4000 / piece.length),
  );
  it("takes no longer for long lines than for as much text in short ones", () => {
    const inLines = (length: number): LogLine[] =>
      logLines(long.flatMap((line) => line.match(new RegExp(`.{1,${length}}`, "g")) ?? []).join("\n"));
    const { facts } = explainLog("");
    const times = [4000, 400].map((length) => {
      const lines = inLines(length);
      const explain = (): void => {
        explainLines(lines, facts);
        const reader = new FactReader();
        for (const line of lines) reader.read(line);
        for (const line of lines) explainLine(line);
        logPhases(lines);
      };
      return Math.min(...Array.from({ length: 3 }, () => milliseconds(explain)));
    });
    expect((times[0] ?? 0) / (times[1] ?? 0)).toBeLessThan(4);
  });

  it("reads a table of memory with any number of blanks, each of them once", () => {
    const row = (n: number): string => {
      const gap = " ".repeat(n);
      const start = "common_memory_breakdown_print: |   - Host";
      return [`${start}${gap}`, `${start} |${gap}`, `${start} | 2 = 1 + 1 + 3${gap}x`].join("\n");
    };
    const blanks = `a |   - CUDA0 (A) | 9 = 5 + (3 = 1 + 1 + 1) + 1 |`;
    expect(explainLog(`memory_breakdown_print: ${blanks}`).facts.breakdown).toMatchObject([
      { device: "CUDA0" },
    ]);
    expect(growth(row, (text) => void explainLog(text), 4000)).toBeLessThan(4);
  });

  it.each([
    ["Base64", "D srv  update: wKzOOm+/OOM/9xQ=="],
    ["a prompt that is printed", `D srv  log_server_r: request:  {"prompt":"why did it run out of memory?"}`],
  ])("takes nothing in %s for a failure", (_, line) => {
    expect(explainLog(`0.01.002.003 ${line}`).events).toEqual([]);
  });

  it("refuses more lines than it has memory for", () => {
    expect(() => explainLog("\n".repeat(1000), 1000)).toThrow(UserError);
    expect(explainLog("\n".repeat(999), 1000).events).toEqual([]);
  });
});
