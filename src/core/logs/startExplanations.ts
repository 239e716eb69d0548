import { causes } from "../causes/causes";
import type { Cause } from "../causes/cause";
import type { FitFailure } from "../causes/memoryCauses";
import type { RefusedValue } from "../causes/startCauses";
import { given } from "../given";
import { parseArguments } from "../launch/commandLine";
import { renamedOption } from "../launch/renamedOptions";
import { lint } from "../preset/lintPreset";
import { isEveryAddress, isLoopback } from "../servers/serverAddress";
import type { Explanation } from "./logEvent";

/** Explanations of starts that fail: arguments, presets, files, devices, network. */
export const startExplanations: readonly Explanation[] = [
  {
    severity: "error",
    pattern: /error: invalid argument: (\S+)/,
    explain: ([, flag = ""]) => {
      const [problem] = parseArguments([flag]).problems;
      const renamed = renamedOption(flag) !== undefined;
      return causes.invalidArgument(flag, { renamed, ...given({ why: problem?.message }) });
    },
  },
  {
    severity: "error",
    pattern: /error while handling argument "([^"]+)": (.+)/,
    explain: ([, flag = "", why = ""]) =>
      /has been removed/.test(why)
        ? causes.removedArgument(flag, parseArguments([flag, "1"]).problems[0]?.message)
        : causes.invalidValue(flag, refusedValue(why)),
  },
  {
    severity: "error",
    pattern: /error while handling environment variable "([^"]+)": (.+)/,
    explain: ([, variable = ""]) => causes.invalidVariable(variable),
  },
  {
    severity: "error",
    pattern: /failed to initialize router models: (.+)/,
    explain: (match) => {
      const key = /option '(.+)' not recognized in preset '(.*)'/.exec(match[1] ?? "");
      if (key === null) return causes.presetUnreadable();
      const [finding] = lint(`[x]\n${key[1] ?? ""} = 1`).filter(({ code }) => code !== "noModel");
      return causes.presetKey(key[2] ?? "", finding?.message);
    },
  },
  {
    severity: "error",
    pattern:
      /failed to open GGUF file '(.*)' \((.*)\)|failed to open file '(.*)'|failed to open '(.*)': No such file|No such file or directory.{0,200}?(\S+\.gguf)/,
    explain: (match) => causes.fileMissing(match[1] ?? match[3] ?? match[4] ?? match[5] ?? "", match[2]),
  },
  {
    severity: "error",
    pattern: /exactly one out metadata, path_model, and file must be defined/,
    explain: () => causes.noModelNamed(),
  },
  {
    severity: "error",
    pattern: /this GGUF file is version (\d+) but this software only supports up to version (\d+)/,
    explain: ([, version = "", most = ""]) => causes.fileTooNew(version, most),
  },
  {
    severity: "error",
    pattern:
      /invalid magic characters|failed to read magic|failed to read key-value pairs|failed to read tensor|data is not within the file bounds|corrupted or incomplete|invalid GGUF/i,
    explain: ([words]) => (words.includes("magic") ? causes.notGguf() : causes.fileBroken()),
  },
  {
    severity: "error",
    pattern: /error loading model: (read error: .{1,80}|.{0,40}failed to read .{1,80})/,
    explain: ([, why = ""]) => causes.fileUnreadable(why),
  },
  {
    severity: "error",
    pattern:
      /unknown model architecture: '([^']*)'|unknown pre-tokenizer type: '([^']*)'|unknown tokenizer: '([^']*)'/,
    explain: (match) => causes.unknownArchitecture(match[1] ?? match[2] ?? match[3] ?? ""),
  },
  {
    severity: "error",
    pattern: /missing tensor '([^']*)'|wrong number of tensors|tensor '([^']*)' has wrong shape/,
    explain: () => causes.missingTensor(),
  },
  {
    severity: "error",
    pattern:
      /mismatch between text model \(n_embd = (\d+)\) and mmproj \(n_embd = (\d+)\)|Failed to load CLIP model|failed to load multimodal model/,
    explain: ([, expected, produced]) =>
      expected === undefined
        ? causes.mmprojMismatch()
        : causes.mmprojMismatch({ expected: Number(expected), produced: Number(produced) }),
  },
  {
    severity: "error",
    pattern:
      /draft model (?:vocab|is not compatible)|vocabs? (?:must|do not) match|the target and draft vocabs are not compatible/,
    explain: () => causes.draftMismatch(),
  },
  {
    severity: "warning",
    pattern: /(draft-[\w-]+) requires a draft (?:context|model)/,
    explain: ([, type = ""]) => causes.draftModelMissing(type),
  },
  {
    severity: "error",
    pattern: /context type MTP requested but model doesn't contain MTP layers/,
    explain: () => causes.mtpLayersMissing(),
  },
  {
    severity: "error",
    pattern: /llama_server: starting server in router mode/,
    // a router of its own says the same, with nobody in front of it
    explain: (_, { source }, { facts }) =>
      source !== undefined && facts.instances.some(({ port }) => port === source)
        ? causes.routerInRouter()
        : undefined,
  },
  {
    severity: "error",
    pattern: /instance name=(.*) exited with status ([1-9]\d*|-\d+)/,
    explain: ([, name = "", status = ""], line, log) => {
      const told = log.facts.instances.some((one) => one.name === name && log.failed(one.port));
      // older builds end with 1 when they are told to
      const before = log.around(line, 200, 0);
      const isStopped = ["stopping", "force-killing"].some((word) =>
        before.includes(`${word} model instance name=${name}`),
      );
      return told || isStopped ? undefined : causes.instanceEnded(name, status);
    },
  },
  {
    severity: "error",
    pattern: /n_seq_max must be <= (\d+)/,
    explain: (match) => causes.tooManySlots(Number(match[1])),
  },
  {
    severity: "error",
    pattern:
      /couldn't bind (?:HTTP server|to server) socket.*?hostname[:=] *([^,\s]*), port[:=] *(\d+)|couldn't bind (?:HTTP server|to server) socket.*?port: (\d+)|bind\(\) failed|Address already in use/,
    explain: ({ 1: host, 2: port, 3: other }) => bindFailure(host, port ?? other),
  },
  {
    severity: "error",
    pattern:
      /Failed to connect to|Remote RPC server crashed|Failed to parse endpoint: (\S*)|ggml-rpc\.cpp:\d+/,
    explain: () => causes.rpcUnreachable(),
  },
  {
    severity: "error",
    pattern: /SPLIT_MODE_TENSOR (?:needs|not|requires)|split mode 'tensor' .*not supported/i,
    explain: (_, { text }) => causes.splitModeNotPossible(text.includes("requires flash_attn")),
  },
  {
    severity: "warning",
    pattern:
      /no usable GPU found|compiled without GPU support|not compiled with GPU|--gpu-layers option will be ignored/,
    explain: () => causes.noGpuUsed(),
  },
  {
    severity: "error",
    pattern:
      /CUDA driver version is insufficient|no kernel image is available|no CUDA-capable device|failed to initialize CUDA|unsupported toolchain/,
    explain: () => causes.driverMismatch(),
  },
  {
    severity: "warning",
    pattern: /failed to fit params to free device memory: (.+)/,
    explain: ([, why = ""]) => causes.fitImpossible(fitFailure(why)),
  },
  {
    severity: "warning",
    consequence: true,
    pattern: /error while trying to fit params to free device memory: (.+)/,
    explain: ([, words = ""]) => causes.fitImpossible({ kind: "noPlacement", words }),
  },
  {
    severity: "warning",
    pattern: /cannot meet free memory target of (\d+) MiB, need to reduce device memory by (\d+) MiB/,
    explain: (match) => causes.fitCannotMeet(match[2] ?? ""),
  },
  {
    severity: "warning",
    pattern: /llama_(?:params|model)_fit results in zero context size/,
    explain: () => causes.fitZeroContext(),
  },
  {
    severity: "warning",
    pattern: /embeddings enabled with n_batch \((\d+)\) > n_ubatch \((\d+)\)/,
    explain: (match) => causes.embeddingBatch(Number(match[2])),
  },
  {
    severity: "warning",
    pattern: /context shift is not supported|does not support context shift|ctx_shift is not supported/,
    explain: () => causes.shiftNotPossible(),
  },
  {
    severity: "error",
    pattern:
      /an illegal memory access was encountered|unspecified launch failure|device-side assert|Vulkan.{0,200}ErrorDeviceLost|DeviceLostError|Segmentation fault|SIGSEGV|GGML_ASSERT\(/,
    explain: () => causes.illegalAccess(),
  },
  {
    severity: "error",
    consequence: true,
    pattern:
      /failed to create (?:llama_)?context (?:with|from) model|exiting due to (?:model loading|HTTP server) error|failed to load model|unable to create llama context|failed to initialize the context/,
    explain: (_, { text }) => (text.includes("fitting without it") ? undefined : causes.loadFailed()),
  },
];

/** llama-server says the same for a port that is taken, a foreign address and a certificate it cannot read. */
const bindFailure = (host: string | undefined, port: string | undefined): Cause =>
  host !== undefined && host !== "" && !isLoopback(host) && !isEveryAddress(host)
    ? causes.noSuchAddress(host, port ?? "")
    : causes.portInUse(port);

function refusedValue(why: string): RefusedValue {
  if (/^sto(i|f|d|ul|ull)\b/.test(why)) return { kind: "notANumber" };
  if (why.includes("expected value")) return { kind: "valueMissing" };
  if (why.includes("unknown value for --flash-attn")) return { kind: "flashAttnWord" };
  const words = why.trim();
  if (/unknown buffer type|invalid device/.test(why)) return { kind: "noSuchDevice", words };
  return { kind: why.includes("failed to open file") ? "noSuchFile" : "other", words };
}

function fitFailure(why: string): FitFailure {
  const layers = /n_gpu_layers already set by user to (-?\d+)/.exec(why)?.[1];
  if (layers !== undefined) return { kind: "layersSet", layers };
  if (/tensor_split|tensor_buft_overrides/.test(why)) return { kind: "splitSet" };
  return why.includes("not implemented")
    ? { kind: "splitMode" }
    : { kind: "noPlacement", words: why.replace(/, abort$/, "") };
}
