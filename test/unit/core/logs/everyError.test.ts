import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { formatText } from "../../../../src/core/format";
import { explainLog } from "../../../../src/core/logs/explainLog";
import { logReport } from "../../../../src/core/logs/logReport";

const fixtures = path.join(import.meta.dirname, "../../../fixtures/logs");
const explained = (log: string): readonly (readonly [kind: string, line: number, words: string])[] =>
  explainLog(log).events.map(({ kind, line, cause, remedy }) => [
    kind,
    line,
    `${formatText(cause)} ${formatText(remedy)}`,
  ]);
const kinds = (log: string): readonly string[] => explained(log).map(([kind]) => kind);

describe("an error that no explanation knows", () => {
  it.each([
    ["with a level", "0.01.000.000 E srv    load_model: failed to attach the flux capacitor", "load_model"],
    ["of a log without times", "E flux_init: the capacitor is missing", "flux_init"],
    ["as JSON", `{"type":"log","time":1,"level":"error","msg":"flux_init: no capacitor"}`, "flux_init"],
    ["of an older build", "main: error: unable to charge", "main"],
    ["of ik_llama.cpp", ' ERR [    load_model] unable to charge | tid="1"', undefined],
    [
      "of LM Studio",
      "2025-05-20 15:33:59 [ERROR] The model has crashed without additional information.",
      undefined,
    ],
    ["of a wrapper", "[llama-cpp] | Exception: Failed to charge", undefined],
    [
      "that ends the program",
      "terminate called after throwing an instance of 'std::length_error'",
      undefined,
    ],
  ])("%s is quoted with what is around it", (_, line, place) => {
    const { events } = explainLog(`one\ntwo\nthree\n${line}\nfive\nsix\nseven`);
    expect(events).toMatchObject([{ kind: "unknownError", severity: "error", line: 4 }]);
    expect(events[0]?.around?.map((one) => one.line)).toEqual([2, 3, 4, 5, 6]);
    expect(events[0]?.around?.map((one) => one.text)).toContain("two");
    if (place !== undefined)
      expect(events[0] && formatText(events[0].cause)).toMatch(new RegExp(`^${place} `));
    expect(events[0] && formatText(events[0].remedy)).toContain("issues");
  });

  it("comes with what is known that is nearest to it, as a guess", () => {
    const [near, far] = ["E srv init: draft batch is odd", "E srv init: flux"].map(
      (log) => explained(log)[0]?.[2],
    );
    expect(near).toContain("It may be this: The draft model has a different vocabulary");
    expect(far).not.toContain("It may be");
  });

  it("is not told beside the known error that it belongs to", () => {
    const load = `E gguf_init_from_file: failed to open GGUF file '/x.gguf' (No such file or directory)
E llama_model_load: something about this
E srv  llama_server: exiting due to model loading error`;
    expect(kinds(load)).toEqual(["fileMissing"]);
    expect(kinds(`E flux_init: something first\n${load}`)).toEqual(["fileMissing"]);
    // but it is the reason where the end alone is known
    expect(kinds("E flux_init: broken\nE srv  llama_server: exiting due to model loading error")).toEqual([
      "unknownError",
    ]);
  });

  it("is told once, however often it comes, and not where a conversation speaks of errors", () => {
    expect(kinds("E flux_init: broken\n".repeat(10))).toEqual(["unknownError"]);
    expect(kinds("an error: this one\nI srv  x: error: none\nTo fix the error, do nothing")).toEqual([]);
  });

  it("has its place in the report, also for a part of a file", () => {
    const [part] = logReport(explainLog("one\nE flux_init: broken"), 100);
    expect(part).toMatchObject({ line: 102, quoted: "101  one\n102  flux_init: broken" });
  });
});

describe("what was mended by another attempt", () => {
  const failed = `0.01.000.000 E ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9000.00 MiB on device 0: cudaMalloc failed: out of memory
0.01.000.001 E ggml_gallocr_reserve_n_impl: failed to allocate CUDA0 buffer of size 9437184000
`;
  it("is no failure", () => {
    expect(kinds(failed)).toEqual(["computeOutOfMemory"]);
    const retried =
      "0.01.000.002 W sched_reserve: compute buffer allocation failed, retrying without pipeline parallelism";
    expect(explainLog(failed + retried).events).toMatchObject([
      { kind: "pipelineGivenUp", severity: "information" },
    ]);
  });

  it("is one when that fails, too, and hides no other error", () => {
    const retried =
      "W sched_reserve: compute buffer allocation failed, retrying without pipeline parallelism\n";
    expect(kinds(`${failed}${retried}${failed}`)).toEqual(["pipelineGivenUp", "computeOutOfMemory"]);
    const refused =
      "E srv    send_error: task id = 3, error: input (9000 tokens) is larger than the max context size (8192 tokens). skipping\n";
    expect(kinds(refused + retried)).toEqual(["contextExceeded", "pipelineGivenUp"]);
  });
});

describe("memory that could not be allocated", () => {
  const host = (size: number): string =>
    `ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size ${size}\n`;
  const cuda = (mib: number): string =>
    `ggml_backend_cuda_buffer_type_alloc_buffer: allocating ${mib}.00 MiB on device 0: cudaMalloc failed: out of memory\n`;
  const weights =
    "alloc_tensor_range: failed to allocate CPU buffer of size 1\nllama_model_load: error loading model: unable to allocate CPU buffer";
  const noFlash = "llama_context: n_ctx         = 32768\nllama_context: flash_attn    = disabled\n";
  const compute =
    "ggml_gallocr_reserve_n: failed to allocate CPU buffer of size 1\ngraph_reserve: failed to allocate compute buffers";
  const cache =
    "llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache";
  const state =
    "llama_init_from_model: failed to initialize the context: failed to allocate buffer for rs cache";
  const projector =
    "alloc_tensor_range: failed to allocate CUDA0 buffer of size 1\nE mtmd_init_from_file: error: failed to load model";

  it.each([
    ["weights on the host", host(21474836480) + weights, "weightsOutOfMemory", "-lm mmap"],
    ["weights on a device", cuda(20480) + weights, "weightsOutOfMemory", "--n-cpu-moe"],
    ["compute on the host", noFlash + host(115092193280) + compute, "computeOutOfMemory", "-fa on"],
    ["compute on a device", cuda(70658) + compute, "computeOutOfMemory", "-ub"],
    ["cache on the host", host(57671680000) + cache, "kvOutOfMemory", "-ctk q8_0"],
    ["cache on a device", cuda(20480) + cache, "kvOutOfMemory", "-ctk q8_0"],
    ["state on a device", cuda(2048) + state, "stateOutOfMemory", "-np 1"],
    ["a projector on a device", cuda(2048) + projector, "projectorOutOfMemory", "--no-mmproj-offload"],
    ["a projector on the host", host(2147483648) + projector, "projectorOutOfMemory", "--no-mmproj"],
  ])("%s: the advice is for that", (_, log, kind, advice) => {
    expect(explained(log)).toMatchObject([[kind, expect.any(Number), expect.stringContaining(advice)]]);
  });

  it("in main memory is not helped by fewer layers on the GPU", () => {
    for (const log of [host(1e9) + weights, host(1e9) + compute, host(1e9) + cache]) {
      expect(explained(log)[0]?.[2]).not.toMatch(/fewer layers/);
    }
  });
});

describe("the log of a router", () => {
  const log = readFileSync(path.join(fixtures, "router-children-b11669.log"), "utf8");

  it("tells of every model why its server failed, though all write into the same log", () => {
    expect(explained(log).map(([kind, line]) => `${String(line)} ${kind}`)).toEqual([
      "3 fileMissing",
      "35 routerInRouter",
      "63 quantisedVNeedsFlashAttn",
      "118 draftModelMissing",
      "147 mtpLayersMissing",
      "174 fileMissing",
    ]);
  });

  it("tells that a server ended with 1 where nothing says why, and not that one was stopped", () => {
    const spawned = "0.01.000.000 I srv  load: spawning server instance with name=m on port 5001\n";
    const ended = "0.02.000.000 I srv  run: instance name=m exited with status 1";
    expect(kinds(spawned + ended)).toEqual(["instanceEnded"]);
    expect(kinds(`${spawned}[5001] 0.01.500.000 E flux_init: broken\n${ended}`)).toEqual(["unknownError"]);
    expect(kinds(`${spawned}${ended.replace("status 1", "status 0")}`)).toEqual([]);
    expect(
      kinds(
        `${spawned}0.01.900.000 W srv  unload: force-killing model instance name=m after timeout\n${ended}`,
      ),
    ).toEqual([]);
  });
});

describe("public reports of failed loads", () => {
  it.each([
    // llama-swap 437
    [
      "llama_model_load: error loading model: read error: Bad address\nllama_model_load_from_file_impl: failed to load model\nsrv    load_model: failed to load model, '/models/gpt-oss-120b-mxfp4.gguf'",
      ["fileUnreadable"],
    ],
    // llama.cpp 9271: the server goes on with ordinary memory
    [
      'ggml_vulkan: Failed to allocate pinned memory.\nggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory\nINFO [                    main] model loaded | tid="0x3"',
      ["pinnedMemory"],
    ],
    // llama.cpp 17389
    [
      "terminate called after throwing an instance of 'vk::DeviceLostError'\n  what():  vk::Queue::submit: ErrorDeviceLost\nAborted",
      ["illegalAccess"],
    ],
    // llama.cpp 23257: a model that the web page unloads
    [
      "0.01.000.000 I srv  load: spawning server instance with name=m on port 5001\n0.09.000.000 I srv  unload: stopping model instance name=m\n0.09.100.000 I srv  run: instance name=m exited with status 1",
      [],
    ],
  ])("%s", (log, expected) => {
    expect(kinds(log)).toEqual(expected);
  });
});

describe("public reports of refusals", () => {
  it.each([
    [
      "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens, which is not enough.",
      "10,136",
    ],
    [
      " ERR [            update_slots] Input prompt is too big compared to KV size. Please try increasing KV size. | n_ctx=202752",
      "longer",
    ],
    ["[llama-cpp] | Exception: Requested tokens (2285) exceed context window of 2048", "2,285"],
  ])("say that the context was too small: %s", (log, words) => {
    expect(explained(log)).toMatchObject([["contextExceeded", 1, expect.stringContaining(words)]]);
  });
});
