import { mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findModelFiles, findModels } from "../../../../src/node/gguf/modelFinder";
import { usualModelPlaces, type ModelPlace } from "../../../../src/node/gguf/modelFinderPlaces";
import { quantisationOfName } from "../../../../src/node/gguf/modelFinderQuantisation";

let root: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(os.tmpdir(), "gauge-models-")));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const never = new AbortController().signal;

/** The beginning of a GGUF: version 3, no tensors, one key before the file type. */
function ggufHead(fileType?: number): Buffer {
  const key = (name: string): Buffer => {
    const length = Buffer.alloc(8);
    length.writeUInt32LE(name.length);
    return Buffer.concat([length, Buffer.from(name)]);
  };
  const u32 = (value: number): Buffer => {
    const buffer = Buffer.alloc(4);
    buffer.writeUInt32LE(value);
    return buffer;
  };
  return Buffer.concat([
    Buffer.from("GGUF"),
    u32(3),
    Buffer.alloc(8),
    u32(fileType === undefined ? 1 : 2),
    u32(0),
    key("general.architecture"),
    u32(8),
    key("qwen3"),
    ...(fileType === undefined ? [] : [key("general.file_type"), u32(4), u32(fileType)]),
  ]);
}

async function put(name: string, content: Uint8Array | string = ggufHead(), secondsOld = 0): Promise<string> {
  const file = path.join(root, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content);
  await utimes(file, 1_750_000_000 - secondsOld, 1_750_000_000 - secondsOld);
  return file;
}

const folders = (folder: string, place = "here", depth = 6): ModelPlace => ({
  place,
  folder: path.join(root, folder),
  layout: "folders",
  depth,
});

describe("findModels", () => {
  it("lists models newest first, with size, quantisation and place; projectors apart", async () => {
    await put("m/a/old-Q8_0.gguf", "GGUF....", 900);
    await put("m/new-UD-IQ2_XXS.gguf", "GGUF......", 10);
    await put("m/mmproj-new-F16.gguf");
    await put("m/readme.txt");
    const { models, projectors } = await findModelFiles({ places: [folders("m")] }, never);
    expect(models).toMatchObject([
      {
        name: "new-UD-IQ2_XXS",
        bytes: 10,
        quantisation: "UD-IQ2_XXS",
        place: "here",
        parts: 1,
        missingParts: 0,
      },
      { name: "old-Q8_0", bytes: 8, quantisation: "Q8_0" },
    ]);
    expect(projectors).toMatchObject([{ name: "mmproj-new-F16" }]);
  });

  it("shows a split model once, with the bytes of all parts, and says how many are missing", async () => {
    for (const [part, size] of [
      [1, 10],
      [2, 20],
      [3, 30],
    ] as const) {
      await put(`m/big-Q4_K_M-0000${part}-of-00003.gguf`, "x".repeat(size));
    }
    await put("m/half-Q4_0-00001-of-00002.gguf", "12345", 5);
    expect(await findModels({ places: [folders("m")] }, never)).toMatchObject([
      {
        name: "big-Q4_K_M",
        path: path.join(root, "m/big-Q4_K_M-00001-of-00003.gguf"),
        bytes: 60,
        parts: 3,
        missingParts: 0,
      },
      { name: "half-Q4_0", parts: 1, missingParts: 1 },
    ]);
  });

  it("follows the hub's snapshots to their blobs and shows a blob once", async () => {
    const blob = await put("hub/models--org--m/blobs/0a1b", ggufHead());
    for (const revision of ["r1", "r2"]) {
      const snapshot = path.join(root, "hub/models--org--m/snapshots", revision);
      await mkdir(snapshot, { recursive: true });
      await symlink(blob, path.join(snapshot, "m-Q6_K.gguf"));
    }
    await symlink("nowhere", path.join(root, "hub/models--org--m/snapshots/r1/gone-Q4_0.gguf"));
    const found = await findModels({ places: [folders("hub", "Hugging Face")] }, never);
    expect(found).toMatchObject([{ name: "m-Q6_K", bytes: ggufHead().length, place: "Hugging Face" }]);
  });

  it("names Ollama's blobs by their manifests and reads their quantisation", async () => {
    const digests = ["a", "b", "c"].map((digit) => digit.repeat(64));
    const layer = (kind: string, digest = ""): object => ({
      mediaType: `application/vnd.ollama.image.${kind}`,
      digest: `sha256:${digest}`,
    });
    const manifests = "o/manifests/registry.ollama.ai";
    await put(
      `${manifests}/library/qwen3/8b`,
      JSON.stringify({ layers: [layer("model", digests[0]), layer("template", digests[2])] }),
    );
    await put(`${manifests}/someone/m/latest`, JSON.stringify({ layers: [layer("model", digests[1])] }));
    await put(
      "o/manifests/hf.co/org/m/Q4_K_M",
      JSON.stringify({ layers: [layer("model", "../../etc/passwd")] }),
    );
    await put(`${manifests}/library/broken/latest`, "{");
    await put(`o/blobs/sha256-${digests[0] ?? ""}`, ggufHead(15), 1);
    await put(`o/blobs/sha256-${digests[1] ?? ""}`, ggufHead(7), 2);
    const place: ModelPlace = { place: "Ollama", folder: path.join(root, "o"), layout: "ollama", depth: 0 };
    expect(await findModels({ places: [place] }, never)).toMatchObject([
      { name: "qwen3:8b", quantisation: "Q4_K_M", place: "Ollama" },
      { name: "someone/m:latest", quantisation: "Q8_0" },
    ]);
  });

  it("passes over what is missing, broken or no GGUF", async () => {
    await put("m/notes.gguf", "just text");
    await put("m/fine.gguf", ggufHead(1));
    await mkdir(path.join(root, "m/folder.gguf"));
    const found = await findModels(
      { places: [folders("none"), folders("m")], folders: [path.join(root, "x")] },
      never,
    );
    expect(found).toMatchObject([{ name: "fine", quantisation: "F16" }]);
  });

  it("looks no deeper than it may, and ends when cancelled", async () => {
    await put("m/1/2/3/deep-Q4_0.gguf");
    expect(await findModels({ places: [folders("m", "here", 2)] }, never)).toEqual([]);
    expect(await findModels({ places: [folders("m", "here", 3)] }, never)).toHaveLength(1);
    const cancelled = AbortSignal.abort(new Error("cancelled"));
    await expect(findModels({ places: [folders("m")] }, cancelled)).rejects.toThrow("cancelled");
  });
});

describe("the usual places", () => {
  const of = (platform: "linux" | "darwin" | "win32", env: Record<string, string> = {}): string[] =>
    usualModelPlaces({ platform, home: platform === "win32" ? "C:\\Users\\u" : "/home/u", env }).map(
      ({ folder }) => folder,
    );

  it("are those of each platform", () => {
    expect(of("linux")).toEqual([
      "/home/u/.cache/llama.cpp",
      "/home/u/.cache/huggingface/hub",
      "/home/u/.lmstudio/models",
      "/home/u/.cache/lm-studio/models",
      "/home/u/.ollama/models",
      "/usr/share/ollama/.ollama/models",
      "/var/lib/ollama/models",
      "/var/lib/ollama/.ollama/models",
    ]);
    expect(of("darwin").slice(0, 2)).toEqual([
      "/home/u/Library/Caches/llama.cpp",
      "/home/u/.cache/huggingface/hub",
    ]);
    expect(of("win32", { LOCALAPPDATA: "D:\\Local" }).slice(0, 3)).toEqual([
      "D:\\Local\\llama.cpp",
      "C:\\Users\\u\\.cache\\huggingface\\hub",
      "C:\\Users\\u\\.lmstudio\\models",
    ]);
  });

  it("follow the programs' own variables", () => {
    const env = { LLAMA_CACHE: "/l", HF_HOME: "/h", OLLAMA_MODELS: "/o", XDG_CACHE_HOME: "/c" };
    expect(of("linux", env)).toEqual([
      "/l",
      "/h/hub",
      "/home/u/.lmstudio/models",
      "/c/lm-studio/models",
      "/o",
    ]);
  });
});

describe("quantisation in a name", () => {
  it.each([
    ["Qwen3-8B-Q4_K_M.gguf", "Q4_K_M"],
    ["gpt-oss-20b-mxfp4.gguf", "MXFP4"],
    ["Llama-3.2-1B-Instruct-f16.gguf", "F16"],
    ["model.bf16.gguf", "BF16"],
    ["Qwen3-30B-A3B-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"],
    ["phi-3-mini-4k-instruct-q4.gguf", "Q4"],
    ["mistral-7b-IQ3_XXS-00001-of-00002.gguf", "IQ3_XXS"],
    ["model-16-experts.gguf", undefined],
    ["plain.gguf", undefined],
  ])("%s: %s", (name, expected) => {
    expect(quantisationOfName(name)).toBe(expected);
  });
});
