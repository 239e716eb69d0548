import { count, say, type Text } from "../text";
import { catalogue, type Cause, type Entry } from "./cause";

const more = say`Start again with -lv 4, which prints sizes and reasons, and explain that log.`;
const help = say`See llama-server --help for this build's options.`;

/** An option that llama-server never had; `close`: the one that was probably meant. */
export const unknownOption = (written: string, close?: string): Text =>
  close === undefined
    ? say`llama-server does not know ${written}.`
    : say`llama-server does not know ${written}; did you mean ${close}?`;

/** An option that llama-server had; `instead`: what to write now. */
export const removedOption = (written: string, instead?: string): Text =>
  instead === undefined
    ? say`llama-server no longer accepts ${written}.`
    : say`llama-server no longer accepts ${written}; write ${instead}.`;

/** Starts that fail: arguments, presets, files, devices, network. */
export const startCauses = catalogue({
  invalidArgument: (flag: string, known: { readonly why?: Text; readonly renamed: boolean }): Entry => ({
    sentence: known.why ?? unknownOption(flag),
    remedies: [
      known.renamed ? say`Change the command line; some options were renamed in newer builds.` : help,
    ],
  }),
  removedArgument: (flag: string, instead: Text | undefined): Entry => ({
    sentence: removedOption(flag),
    remedies: [instead ?? help],
  }),
  invalidValue: (flag: string, why: RefusedValue): Entry => ({
    sentence: valueSentence(flag, why),
    remedies: [say`Check what ${flag} accepts with llama-server --help.`],
  }),
  invalidVariable: (variable: string): Entry => ({
    sentence: say`The environment variable ${variable} has a value that llama-server does not accept.`,
    remedies: [say`Correct or unset it.`],
  }),
  presetUnreadable: (): Entry => ({
    sentence: say`The router cannot read its model presets.`,
    remedies: [say`Open the file in the editor, or run llama-gauge lint on it: both name the line.`],
  }),
  presetKey: (section: string, why: Text | undefined): Entry => ({
    sentence: why ?? say`The preset has an unknown key.`,
    remedies: [say`Correct the key in the section ${section}.`],
  }),
  fileMissing: (path: string, why: string | undefined): Entry => ({
    sentence: say`The file ${path} cannot be opened${why === undefined ? "" : ` (${why})`}.`,
    remedies: [say`Check the path: relative paths start at the folder llama-server was started in.`],
  }),
  noModelNamed: (): Entry => ({
    sentence: say`No model file was found: it could not be downloaded (offline?), or none was specified.`,
    remedies: [say`Specify a file with -m, or download the model once with network access.`],
  }),
  fileTooNew: (version: string, most: string): Entry => ({
    sentence: say`The file claims to be GGUF version ${version}; this build reads up to version ${most}.`,
    remedies: [say`Use a newer llama.cpp; if no build is that new, the file is damaged.`],
  }),
  notGguf: (): Entry => ({
    sentence: say`The file is not a GGUF model.`,
    remedies: [
      say`Check what was downloaded: a web page or a Git LFS pointer is only a few hundred bytes long.`,
    ],
  }),
  fileBroken: (): Entry => ({
    sentence: say`The model file is truncated or damaged.`,
    remedies: [say`Download it again and compare its size.`],
  }),
  fileUnreadable: (why: string): Entry => ({
    sentence: say`The model file could not be read (${why}).`,
    remedies: [
      say`Check the disk it is on and whether it is complete, and try another way of loading it (-lm mmap).`,
    ],
  }),
  unknownArchitecture: (name: string): Entry => ({
    sentence: say`This build does not know ${name}.`,
    remedies: [say`Update llama.cpp; a new model needs a build made after its release.`],
  }),
  missingTensor: (): Entry => ({
    sentence: say`The file does not match what this build expects of its architecture: it was converted by another build, or a part is missing.`,
    remedies: [say`Update llama.cpp, or download a file made for your build.`],
  }),
  mmprojMismatch: (values?: { readonly produced: number; readonly expected: number }): Entry => ({
    sentence:
      values === undefined
        ? say`The multimodal projector could not be loaded.`
        : say`The projector belongs to another model: it produces ${count(values.produced)} value[s], the model expects ${count(values.expected)}.`,
    remedies: [say`Use the mmproj file made for this model, or --no-mmproj.`],
  }),
  draftMismatch: (): Entry => ({
    sentence: say`The draft model has a different vocabulary from the model.`,
    remedies: [
      say`Use a draft model of the same family, or --spec-type draft-mtp if the model has MTP layers.`,
    ],
  }),
  draftModelMissing: (type: string): Entry => ({
    sentence: say`${type} needs a draft model, and none is named: the server runs without drafting.`,
    remedies: [say`Name one with --spec-draft-model, or leave --spec-type out.`],
  }),
  mtpLayersMissing: (): Entry => ({
    sentence: say`The model file has no layers for drafting (MTP), which --spec-type draft-mtp needs.`,
    remedies: [
      say`Use a file of this model that has kept them, name one with --spec-draft-model, or leave --spec-type out.`,
    ],
  }),
  routerInRouter: (): Entry => ({
    sentence: say`This section names no model, so that its server starts as another router and answers nothing.`,
    remedies: [say`Add model = FILE or hf-repo = NAME to the section.`],
  }),
  instanceEnded: (name: string, status: string): Entry => ({
    sentence: say`The server of ${name} ended with status ${status}; the lines above do not say why.`,
    remedies: [
      say`Start its command line by hand: the router prints it above, after "spawning server instance with args".`,
    ],
  }),
  tooManySlots: (most: number): Entry => ({
    sentence: say`llama.cpp supports at most ${count(most)} slot[s].`,
    remedies: [say`Set a smaller -np.`],
  }),
  portInUse: (port: string | undefined): Entry => ({
    sentence: say`Port${port === undefined ? "" : ` ${port}`} is in use, most likely by another llama-server.`,
    remedies: [
      say`Stop the other server, or choose another --port. With --ssl-cert-file and --ssl-key-file, check that both are readable: the error message is the same if not.`,
    ],
  }),
  noSuchAddress: (host: string, port: string): Entry => ({
    sentence: say`llama-server cannot listen on ${host}, port ${port}: this machine has no such address, or the port is in use.`,
    remedies: [say`Use an address of this machine with --host, or choose another --port.`],
  }),
  rpcUnreachable: (): Entry => ({
    sentence: say`An RPC server does not respond; llama.cpp exits when one is lost.`,
    remedies: [say`Start ggml-rpc-server on that machine with the same build, and check HOST:PORT.`],
  }),
  splitModeNotPossible: (flashAttnOff = false): Entry => ({
    sentence: say`Splitting tensors is not possible here: it needs GPUs, flash attention and a model that supports it.`,
    remedies: flashAttnOff ? [say`Use -fa on, or -sm layer.`] : [say`Use -sm layer.`],
  }),
  noGpuUsed: (): Entry => ({
    sentence: say`This llama.cpp has no GPU backend, or found no GPU: everything runs on the CPU.`,
    remedies: [
      say`Install a build for your GPU (CUDA, Vulkan, Metal, ROCm), and check its driver with llama-server --list-devices.`,
    ],
  }),
  driverMismatch: (): Entry => ({
    sentence: say`The build does not match the GPU or its driver.`,
    remedies: [say`Update the driver, or use a build for this GPU's compute capability.`],
  }),
  loadFailed: (): Entry => ({
    sentence: say`The model was not loaded; the lines above do not say why.`,
    remedies: [more],
  }),
  unknownError: (place: string | undefined, nearest: Cause | undefined): Entry => ({
    sentence:
      place === undefined
        ? say`The log has an error that is not known here.`
        : say`${place} reports an error that is not known here.`,
    remedies: [
      ...(nearest === undefined ? [] : [say`It may be this: ${nearest.sentence}`, ...nearest.remedies]),
      say`Search llama.cpp's issues for the words of the line.`,
      more,
    ],
  }),
});

/** Why llama-server does not take a value. */
export type RefusedValue =
  | { readonly kind: "notANumber" | "valueMissing" | "flashAttnWord" }
  | { readonly kind: "noSuchDevice" | "noSuchFile" | "other"; readonly words: string };

function valueSentence(flag: string, why: RefusedValue): Text {
  switch (why.kind) {
    case "notANumber":
      return say`The value of ${flag} is not a number.`;
    case "valueMissing":
      return say`${flag} must be followed by a value.`;
    case "flashAttnWord":
      return say`${flag} needs on, off or auto since b6325; older builds accepted it without a value.`;
    case "noSuchDevice":
      return say`${flag} names a device this llama.cpp does not have (${why.words}).`;
    case "noSuchFile":
      return say`${flag} names a file that cannot be opened (${why.words}).`;
    case "other":
      return say`${flag} does not accept this value (${why.words}).`;
  }
}
