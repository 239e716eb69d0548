import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Caches } from "../../../src/app/caches";
import type { CountCache } from "../../../src/core/tokens/keptCount";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-caches-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const counts = (version: string, fingerprint: string): Promise<CountCache> =>
  new Caches({ folder, version }).counts(fingerprint);

describe("counts that are kept", () => {
  it("are those of one tokenizer and one version of the product", async () => {
    const cache = await counts("1.0.0", "qwen");
    cache.keepPrompt("prompt", 42);
    await cache.flush();
    expect((await counts("1.0.0", "qwen")).promptTokens("prompt")).toBe(42);
    expect((await counts("1.0.1", "qwen")).promptTokens("prompt")).toBeUndefined();
    expect((await counts("1.0.0", "llama")).promptTokens("prompt")).toBeUndefined();
  });

  it("stay open between two estimates with the same tokenizer", async () => {
    const caches = new Caches({ folder, version: "1.0.0" });
    expect(await caches.counts("qwen")).toBe(await caches.counts("qwen"));
    await caches.close();
  });
});
