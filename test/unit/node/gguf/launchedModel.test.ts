import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { launchedModelFile } from "../../../../src/node/gguf/launchedModel";
import type { HomeOf } from "../../../../src/node/gguf/modelFinderPlaces";

const signal = new AbortController().signal;
let home: string;
let server: Server;
let asked: string[];
let files: readonly string[];
beforeEach(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), "gauge-launched-"));
  asked = [];
  files = [];
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end(JSON.stringify(files.map((name) => ({ type: "file", path: name }))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.close();
  await rm(home, { recursive: true, force: true });
});

const endpoint = (): string => `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
const place = (): HomeOf => ({ platform: "linux", home, env: { HF_ENDPOINT: `${endpoint()}/` } });
async function cached(...parts: readonly string[]): Promise<string> {
  const file = path.join(home, ".cache", ...parts);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, "");
  return file;
}

describe("the file that llama-server would take", () => {
  it("is the one of -m, whatever else is given", async () => {
    expect(await launchedModelFile({ model: "m.gguf", hfRepo: "a/b" }, signal, place())).toBe("m.gguf");
    expect(await launchedModelFile({}, signal, place())).toBeUndefined();
  });

  it("of -hf is in the hub's cache, else in the one of older builds", async () => {
    const old = await cached("llama.cpp", "ada_tide-GGUF_tide-Q4_K_M.gguf");
    await cached("llama.cpp", "ada_tide-GGUF_tide-Q8_0.gguf");
    const find = (hfRepo: string): Promise<string | undefined> =>
      launchedModelFile({ hfRepo }, signal, place());
    expect(await find("ada/tide-GGUF")).toBe(old);
    expect(await find("ada/tide-GGUF:Q8_0")).toBe(old.replace("Q4_K_M", "Q8_0"));
    const commit = "0123456789abcdef0123456789abcdef01234567";
    const hub = path.join("huggingface", "hub", "models--ada--tide-GGUF");
    const newer = await cached(hub, "snapshots", commit, "tide-Q4_K_M.gguf");
    await writeFile(await cached(hub, "refs", "main"), commit);
    expect(await find("ada/tide-GGUF")).toBe(newer);
    expect(asked).toEqual([]);
  });

  it("of -mu is in the cache by its name, else its address", async () => {
    const modelUrl = "https://example.com/models/tide-Q8_0.gguf?download=true";
    expect(await launchedModelFile({ modelUrl }, signal, place())).toBe(modelUrl);
    const file = await cached("llama.cpp", "tide-Q8_0.gguf");
    expect(await launchedModelFile({ modelUrl }, signal, place())).toBe(file);
  });

  it("that is not downloaded is an address in the repository, by the rule of the cache", async () => {
    files = ["README.md", "tide-Q8_0.gguf", "sub dir/tide-Q4_K_M.gguf", "mmproj-tide-Q4_K_M.gguf"];
    expect(await launchedModelFile({ hfRepo: "ada/tide-GGUF" }, signal, place())).toBe(
      `${endpoint()}/ada/tide-GGUF/resolve/main/sub%20dir/tide-Q4_K_M.gguf`,
    );
    expect(asked).toEqual(["/api/models/ada/tide-GGUF/tree/main?recursive=true"]);
    await expect(launchedModelFile({ hfRepo: "ada/tide-GGUF:Q2_K" }, signal, place())).rejects.toMatchObject({
      reason: "notFound",
    });
    await expect(launchedModelFile({ hfRepo: "no repository" }, signal, place())).rejects.toMatchObject({
      reason: "invalidInput",
    });
  });

  it("cannot be found where nobody answers", async () => {
    const nobody = { ...place(), env: { HF_ENDPOINT: "http://127.0.0.1:9" } };
    await expect(launchedModelFile({ hfRepo: "ada/tide-GGUF" }, signal, nobody)).rejects.toMatchObject({
      reason: "outsideFailed",
    });
  });
});
