import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cachedModelFile, cachedRepositories } from "../../src/node/gguf/hubCache";
import { runningLlamaServers } from "../../src/node/machine/processDiscovery";
import { systemOptions } from "../../src/node/machine/systemOptions";
import { forgedModel } from "../support/forge/forgeModel";
import { llamaProgram, startLlamaServer } from "../support/llamaCpp";

const signal = new AbortController().signal;
const platform = "linux";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "system-files-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const commit = "0123456789abcdef0123456789abcdef01234567";

/** A repository as a download leaves it: snapshots are links to blobs. */
async function cache(folder: string, repository: string, ...files: readonly string[]): Promise<void> {
  const its = path.join(root, folder, `models--${repository.replaceAll("/", "--")}`);
  const snapshot = path.join(its, "snapshots", commit);
  await mkdir(path.join(its, "refs"), { recursive: true });
  await mkdir(path.join(its, "blobs"), { recursive: true });
  await writeFile(path.join(its, "refs/main"), commit);
  for (const [index, file] of files.entries()) {
    const blob = path.join(its, "blobs", String(index));
    await writeFile(blob, "x");
    await mkdir(path.dirname(path.join(snapshot, file)), { recursive: true });
    await symlink(blob, path.join(snapshot, file));
  }
}

/** What the real program lists, sorted. */
async function listed(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { stdout } = await execa(await llamaProgram("llama-server"), ["--cache-list"], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    extendEnv: false,
    timeout: 20_000,
  });
  return Array.from(stdout.matchAll(/^ *\d+\. (\S+)$/gm), ([, name]) => name ?? "").sort();
}

describe("llama.cpp's cache of Hugging Face", () => {
  beforeAll(async () => {
    await cache("a", "own/a-GGUF", "a-Q4_K_M.gguf", "a-Q8_0.gguf", "mmproj-a-f16.gguf", "README.md");
    await cache("a", "own/split", "s-Q4_K_M-00001-of-00002.gguf", "s-Q4_K_M-00002-of-00002.gguf");
    await cache("a", "own/folders", "UD-Q4_K_XL/f-UD-Q4_K_XL-00001-of-00002.gguf", "BF16/f-BF16.gguf");
    await cache(
      "a",
      "own/odd",
      "x-IQ4_NL.gguf",
      "x-imatrix.gguf",
      "mtp-x-Q4_0.gguf",
      "x-bf16.gguf",
      "x.Q5_K.gguf",
    );
    await cache("a", "own/plain", "model.gguf");
    await cache("a", "own/other", "model.safetensors");
    await cache("a", "own/we--ird", "x-Q4_0.gguf");
    await cache("a", "lonely", "x-Q4_0.gguf");
    await writeFile(path.join(root, "a/own_old-Q4_0.gguf"), "x");
    for (const name of ["b", "c/hub", "d/huggingface/hub", "e/.cache/huggingface/hub"]) {
      await cache(name, `own/${name.slice(0, 1)}`, "x-Q4_K_M.gguf");
    }
  });

  it("is listed as llama-server lists it", async () => {
    const env = { LLAMA_CACHE: path.join(root, "a"), HOME: root };
    const found = await cachedRepositories(signal, { platform, home: root, env });
    expect(found.length).toBeGreaterThan(8);
    expect(found).toEqual(await listed(env));
  });

  it("is looked for in the same places, in the same order", async () => {
    const folder = (name: string): string => path.join(root, name);
    const all = {
      LLAMA_CACHE: folder("a"),
      HF_HUB_CACHE: folder("b"),
      HUGGINGFACE_HUB_CACHE: folder("a"),
      HF_HOME: folder("c"),
      XDG_CACHE_HOME: folder("d"),
    };
    const home = folder("e");
    for (const dropped of ["", ...Object.keys(all)]) {
      const at = Object.keys(all).indexOf(dropped) + 1;
      const env: Record<string, string> = Object.fromEntries(Object.entries(all).slice(at));
      if (dropped !== "") env[dropped] = "";
      const found = await cachedRepositories(signal, { platform, home, env });
      expect(found.length, dropped).toBeGreaterThan(0);
      expect(found, dropped).toEqual(await listed({ ...env, HOME: home }));
    }
  });

  it("says which file a name stands for, where that is certain", async () => {
    const home = { platform, home: root, env: { LLAMA_CACHE: path.join(root, "a") } } as const;
    const file = async (name: string, hfFile?: string): Promise<string | undefined> =>
      (await cachedModelFile(name, hfFile, signal, home))?.split(`${commit}/`)[1];
    expect(await file("own/a-GGUF")).toBe("a-Q4_K_M.gguf");
    expect(await file("own/a-GGUF:q8_0")).toBe("a-Q8_0.gguf");
    expect(await file("own/a-GGUF:Q5_0")).toBeUndefined();
    expect(await file("own/a-GGUF", "a-Q8_0.gguf")).toBe("a-Q8_0.gguf");
    expect(await file("own/split")).toBe("s-Q4_K_M-00001-of-00002.gguf");
    expect(await file("own/folders:Q4_K_XL")).toBe("UD-Q4_K_XL/f-UD-Q4_K_XL-00001-of-00002.gguf");
    expect(await file("own/plain")).toBe("model.gguf");
    // several would do
    expect(await file("own/odd")).toBeUndefined();
    for (const odd of ["", ":", "own", "../a", "own/a-GGUF/..", "own/none", "own/a-GGUF:"]) {
      expect(await file(odd), odd).toBe(odd === "own/a-GGUF:" ? "a-Q4_K_M.gguf" : undefined);
    }
    expect(await cachedRepositories(signal, { ...home, env: { LLAMA_CACHE: "/nowhere" } })).toEqual([]);
  });
});

describe("a config.ini of llama.cpp", () => {
  it("counts for servers as it does for llama-server, and is seen behind a running one", async () => {
    const config = path.join(root, "config");
    await mkdir(path.join(config, "llama.cpp"), { recursive: true });
    await writeFile(
      path.join(config, "llama.cpp/config.ini"),
      "ctx-size = 1024\n[*]\nctx-size = 4096\nnp = 2\nkvu = off\nctk = q8_0\nbogus = 1\n[other]\nnp = 7\n",
    );
    const env = { XDG_CONFIG_HOME: config };
    const options = await systemOptions({ platform, home: root, env });
    expect(options).toMatchObject({ ctxSize: 1024, parallel: 2, kvUnified: false, cacheTypeK: "q8_0" });
    const server = await startLlamaServer({ model: await forgedModel(), env });
    try {
      const props = (await (await fetch(`${server.url}/props`)).json()) as {
        readonly total_slots: number;
        readonly default_generation_settings: { readonly n_ctx: number };
      };
      expect([props.total_slots, props.default_generation_settings.n_ctx]).toEqual([2, 512]);
      const running = (await runningLlamaServers(signal)).find(({ urls }) => urls.includes(server.url));
      expect(running?.options).toMatchObject({ ctxSize: 1024, cacheTypeK: "q8_0" });
      const overruled = await startLlamaServer({
        model: await forgedModel(),
        args: ["-np", "1"],
        env: { ...env, LLAMA_ARG_CTX_SIZE: "512" },
      });
      try {
        const behind = async (): Promise<unknown> =>
          (await runningLlamaServers(signal)).find(({ urls }) => urls.includes(overruled.url))?.options;
        await expect.poll(behind).toMatchObject({ ctxSize: 512, parallel: 1, cacheTypeK: "q8_0" });
      } finally {
        await overruled.stop();
      }
    } finally {
      await server.stop();
    }
  });
});
