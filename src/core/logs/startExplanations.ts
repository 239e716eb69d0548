import { isEveryAddress, isLoopback } from "../servers/serverAddress";
import { parseArguments } from "../launch/commandLine";
import { renamedOption } from "../launch/renamedOptions";
import { lint } from "../preset/lintPreset";
import { count, say, type Text } from "../text";
import type { Explanation } from "./logEvent";

/** Explanations of starts that fail: arguments, presets, files, devices, network. */
export const startExplanations: readonly Explanation[] = [
  {
    kind: "invalidArgument",
    severity: "error",
    pattern: /error: invalid argument: (\S+)/,
    explain: (match) => {
      const [problem] = parseArguments([match[1] ?? ""]).problems;
      const renamed = renamedOption(match[1] ?? "");
      return {
        cause: problem?.message ?? say`llama-server does not know ${match[1] ?? ""}.`,
        remedy:
          renamed === undefined
            ? say`See llama-server --help for this build's options.`
            : say`Change the command line; some options were renamed in newer builds.`,
      };
    },
  },
  {
    kind: "invalidValue",
    severity: "error",
    pattern: /error while handling argument "([^"]+)": (.+)/,
    explain: (match) => {
      const [flag = "", why = ""] = [match[1], match[2]];
      const removed = /has been removed\.? ?(.*)/.exec(why);
      if (removed !== null) {
        return {
          cause: say`llama-server no longer accepts ${flag}.`,
          remedy: parseArguments([flag, "1"]).problems[0]?.message ?? say`See llama-server --help.`,
        };
      }
      return {
        cause: valueCause(flag, why),
        remedy: say`Check what ${flag} accepts with llama-server --help.`,
      };
    },
  },
  {
    kind: "invalidVariable",
    severity: "error",
    pattern: /error while handling environment variable "([^"]+)": (.+)/,
    explain: (match) => ({
      cause: say`The environment variable ${match[1] ?? ""} has a value that llama-server does not accept.`,
      remedy: say`Correct or unset it.`,
    }),
  },
  {
    kind: "presetRefused",
    severity: "error",
    pattern: /failed to initialize router models: (.+)/,
    explain: (match) => {
      const key = /option '(.+)' not recognized in preset '(.*)'/.exec(match[1] ?? "");
      if (key === null) {
        return {
          cause: say`The router cannot read its model presets.`,
          remedy: say`Open the file in the editor, or run llama-gauge lint on it: both name the line.`,
        };
      }
      const [finding] = lint(`[x]\n${key[1] ?? ""} = 1`).filter(({ code }) => code !== "noModel");
      return {
        cause: finding?.message ?? say`The preset has an unknown key.`,
        remedy: say`Correct the key in the section ${key[2] ?? ""}.`,
      };
    },
  },
  {
    kind: "fileMissing",
    severity: "error",
    pattern:
      /failed to open GGUF file '(.*)' \((.*)\)|failed to open file '(.*)'|failed to open '(.*)': No such file|No such file or directory.{0,200}?(\S+\.gguf)/,
    explain: (match) => ({
      cause: say`The file ${match[1] ?? match[3] ?? match[4] ?? match[5] ?? ""} cannot be opened${match[2] === undefined ? "" : ` (${match[2]})`}.`,
      remedy: say`Check the path: relative paths start at the folder llama-server was started in.`,
    }),
  },
  {
    kind: "noModelNamed",
    severity: "error",
    pattern: /exactly one out metadata, path_model, and file must be defined/,
    explain: () => ({
      cause: say`No model file was found: it could not be downloaded (offline?), or none was specified.`,
      remedy: say`Specify a file with -m, or download the model once with network access.`,
    }),
  },
  {
    kind: "fileBroken",
    severity: "error",
    pattern: /this GGUF file is version (\d+) but this software only supports up to version (\d+)/,
    explain: (match) => ({
      cause: say`The file claims to be GGUF version ${match[1] ?? ""}; this build reads up to version ${match[2] ?? ""}.`,
      remedy: say`Use a newer llama.cpp; if no build is that new, the file is damaged.`,
    }),
  },
  {
    kind: "fileBroken",
    severity: "error",
    pattern:
      /invalid magic characters|failed to read magic|failed to read key-value pairs|failed to read tensor|data is not within the file bounds|corrupted or incomplete|invalid GGUF/i,
    explain: (match) =>
      /magic/.test(match[0])
        ? {
            cause: say`The file is not a GGUF model.`,
            remedy: say`Check what was downloaded: a web page or a Git LFS pointer is only a few hundred bytes long.`,
          }
        : {
            cause: say`The model file is truncated or damaged.`,
            remedy: say`Download it again and compare its size.`,
          },
  },
  {
    kind: "unknownArchitecture",
    severity: "error",
    pattern:
      /unknown model architecture: '([^']*)'|unknown pre-tokenizer type: '([^']*)'|unknown tokenizer: '([^']*)'/,
    explain: (match) => ({
      cause: say`This build does not know ${match[1] ?? match[2] ?? match[3] ?? ""}.`,
      remedy: say`Update llama.cpp; a new model needs a build made after its release.`,
    }),
  },
  {
    kind: "missingTensor",
    severity: "error",
    pattern: /missing tensor '([^']*)'|wrong number of tensors|tensor '([^']*)' has wrong shape/,
    explain: () => ({
      cause: say`The file does not match what this build expects of its architecture: it was converted by another build, or a part is missing.`,
      remedy: say`Update llama.cpp, or download a file made for your build.`,
    }),
  },
  {
    kind: "mmprojMismatch",
    severity: "error",
    pattern:
      /mismatch between text model \(n_embd = (\d+)\) and mmproj \(n_embd = (\d+)\)|Failed to load CLIP model|failed to load multimodal model/,
    explain: (match) => ({
      cause:
        match[1] === undefined
          ? say`The multimodal projector could not be loaded.`
          : say`The projector belongs to another model: it produces ${count(Number(match[2]))} value[s], the model expects ${count(Number(match[1]))}.`,
      remedy: say`Use the mmproj file made for this model, or --no-mmproj.`,
    }),
  },
  {
    kind: "draftMismatch",
    severity: "error",
    pattern:
      /draft model (?:vocab|is not compatible)|vocabs? (?:must|do not) match|the target and draft vocabs are not compatible/,
    explain: () => ({
      cause: say`The draft model has a different vocabulary from the model.`,
      remedy: say`Use a draft model of the same family, or --spec-type draft-mtp if the model has MTP layers.`,
    }),
  },
  {
    kind: "tooManySlots",
    severity: "error",
    pattern: /n_seq_max must be <= (\d+)/,
    explain: (match) => ({
      cause: say`llama.cpp supports at most ${count(Number(match[1]))} slot[s].`,
      remedy: say`Set a smaller -np.`,
    }),
  },
  {
    kind: "portInUse",
    severity: "error",
    pattern:
      /couldn't bind (?:HTTP server|to server) socket.*?hostname[:=] *([^,\s]*), port[:=] *(\d+)|couldn't bind (?:HTTP server|to server) socket.*?port: (\d+)|bind\(\) failed|Address already in use/,
    explain: ({ 1: host, 2: port, 3: other }) => bindFailure(host, port ?? other),
  },
  {
    kind: "rpcUnreachable",
    severity: "error",
    pattern:
      /Failed to connect to|Remote RPC server crashed|Failed to parse endpoint: (\S*)|ggml-rpc\.cpp:\d+/,
    explain: () => ({
      cause: say`An RPC server does not respond; llama.cpp exits when one is lost.`,
      remedy: say`Start ggml-rpc-server on that machine with the same build, and check HOST:PORT.`,
    }),
  },
  {
    kind: "splitModeNotPossible",
    severity: "error",
    pattern: /SPLIT_MODE_TENSOR (?:needs|not)|split mode 'tensor' .*not supported/i,
    explain: () => ({
      cause: say`Splitting tensors is not possible here: it needs GPUs, flash attention and a model that supports it.`,
      remedy: say`Use -sm layer.`,
    }),
  },
  {
    kind: "noGpuUsed",
    severity: "warning",
    pattern:
      /no usable GPU found|compiled without GPU support|not compiled with GPU|--gpu-layers option will be ignored/,
    explain: () => ({
      cause: say`This llama.cpp has no GPU backend, or found no GPU: everything runs on the CPU.`,
      remedy: say`Install a build for your GPU (CUDA, Vulkan, Metal, ROCm), and check its driver with llama-server --list-devices.`,
    }),
  },
  {
    kind: "driverMismatch",
    severity: "error",
    pattern:
      /CUDA driver version is insufficient|no kernel image is available|no CUDA-capable device|failed to initialize CUDA|unsupported toolchain/,
    explain: () => ({
      cause: say`The build does not match the GPU or its driver.`,
      remedy: say`Update the driver, or use a build for this GPU's compute capability.`,
    }),
  },
  {
    kind: "fitImpossible",
    severity: "warning",
    pattern: /failed to fit params to free device memory: (.+)/,
    explain: (match) => ({
      cause: fitCause(match[1] ?? ""),
      remedy: say`Remove -ngl, -ts and -ot from the command line so that -fit can place layers, or set a smaller -c yourself; the context may otherwise be reduced to 4096.`,
    }),
  },
  {
    kind: "fitCannotMeet",
    severity: "warning",
    pattern: /cannot meet free memory target of (\d+) MiB, need to reduce device memory by (\d+) MiB/,
    explain: (match) => ({
      cause: say`${match[2] ?? ""} MiB too much for the device: -fit moves layers to main memory or reduces the context.`,
      remedy: say`Make the model fit yourself if speed matters: a smaller -c, -np 1, -ub 512 or a quantised KV cache.`,
    }),
  },
  {
    kind: "fitZeroContext",
    severity: "warning",
    pattern: /llama_(?:params|model)_fit results in zero context size/,
    explain: () => ({
      cause: say`If nothing needs to change, the fit step leaves the context at 0, which means the model's own context length.`,
      remedy: say`Treat 0 as the training context, or set n_ctx.`,
    }),
  },
  {
    kind: "embeddingBatch",
    severity: "warning",
    pattern: /embeddings enabled with n_batch \((\d+)\) > n_ubatch \((\d+)\)/,
    explain: (match) => ({
      cause: say`An embedding text must fit into one physical batch: both batches become ${count(Number(match[2]))} token[s].`,
      remedy: say`Set -ub as large as your longest text.`,
    }),
  },
  {
    kind: "shiftNotPossible",
    severity: "warning",
    pattern: /context shift is not supported|does not support context shift|ctx_shift is not supported/,
    explain: () => ({
      cause: say`This model's cache cannot be shifted; the server continues without --context-shift.`,
      remedy: say`Choose a context large enough for prompt and answer.`,
    }),
  },
  {
    kind: "illegalAccess",
    severity: "error",
    pattern:
      /an illegal memory access was encountered|unspecified launch failure|device-side assert|Vulkan.{0,200}ErrorDeviceLost|DeviceLostError|Segmentation fault|SIGSEGV|GGML_ASSERT\(/,
    explain: () => ({
      cause: say`A backend kernel failed. The cause is the build, the driver or the hardware rather than the settings alone.`,
      remedy: say`Try f16 for K and V, then -fa off, then a newer build; if it fails at the same prompt length each time, one of these is the cause.`,
    }),
  },
  {
    kind: "loadFailed",
    severity: "error",
    consequence: true,
    pattern:
      /failed to create (?:llama_)?context (?:with|from) model|exiting due to (?:model loading|HTTP server) error|failed to load model|unable to create llama context|failed to initialize the context/,
    explain: () => ({
      cause: say`The model was not loaded; the lines above do not say why.`,
      remedy: say`Start again with -lv 4, which prints sizes and reasons, and explain that log.`,
    }),
  },
];

/** llama-server says the same for a port that is taken, a foreign address and a certificate it cannot read. */
function bindFailure(host: string | undefined, port: string | undefined): { cause: Text; remedy: Text } {
  if (host !== undefined && host !== "" && !isLoopback(host) && !isEveryAddress(host)) {
    return {
      cause: say`llama-server cannot listen on ${host}, port ${port ?? ""}: this machine has no such address, or the port is in use.`,
      remedy: say`Use an address of this machine with --host, or choose another --port.`,
    };
  }
  return {
    cause: say`Port${port === undefined ? "" : ` ${port}`} is in use, most likely by another llama-server.`,
    remedy: say`Stop the other server, or choose another --port. With --ssl-cert-file and --ssl-key-file, check that both are readable: the error message is the same if not.`,
  };
}

function valueCause(flag: string, why: string): Text {
  if (/^sto(i|f|d|ul|ull)\b/.test(why)) return say`The value of ${flag} is not a number.`;
  if (/expected value/.test(why)) return say`${flag} must be followed by a value.`;
  if (/unknown value for --flash-attn/.test(why)) {
    return say`${flag} needs on, off or auto since b6325; older builds accepted it without a value.`;
  }
  if (/unknown buffer type|invalid device/.test(why))
    return say`${flag} names a device this llama.cpp does not have (${why.trim()}).`;
  if (/failed to open file/.test(why))
    return say`${flag} names a file that cannot be opened (${why.trim()}).`;
  return say`${flag} does not accept this value (${why.trim()}).`;
}

function fitCause(why: string): Text {
  const layers = /n_gpu_layers already set by user to (-?\d+)/.exec(why)?.[1];
  if (layers !== undefined) return say`-fit could not move layers because -ngl ${layers} is set.`;
  if (/tensor_split|tensor_buft_overrides/.test(why))
    return say`-fit could not move layers because -ts or -ot is set.`;
  if (/not implemented/.test(why)) return say`-fit does not support this split mode.`;
  return say`-fit found no placement: ${why.replace(/, abort$/, "")}.`;
}
