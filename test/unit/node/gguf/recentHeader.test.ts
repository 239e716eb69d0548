import { mkdtemp, rename, rm, utimes } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RecentHeader } from "../../../../src/node/gguf/recentHeader";
import { writeSparseModel } from "../../../integration/memory/sparseModel";
import { headers } from "../../core/memory/fixtures";

const { signal } = new AbortController();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-header-"));
  for (const [name, of] of [
    ["a.gguf", "llama-3.1-8b-q4_k_m.gguf"],
    ["b.gguf", "gemma-2-9b-q4_k_m.gguf"],
  ] as const) {
    const header = headers().get(of);
    if (header === undefined) throw new Error("no header");
    await writeSparseModel(path.join(folder, name), header);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the header that was read last", () => {
  it("is kept while the file is the same, and read again as soon as another takes its place", async () => {
    const recent = new RecentHeader();
    const file = path.join(folder, "model.gguf");
    await rename(path.join(folder, "a.gguf"), file);
    const first = await recent.read(file, signal);
    expect(await recent.read(file, signal)).toBe(first);
    await utimes(file, new Date(), new Date(0));
    const touched = await recent.read(file, signal);
    expect(touched).not.toBe(first);
    expect(touched.metadata).toEqual(first.metadata);
    await rename(path.join(folder, "b.gguf"), file);
    expect((await recent.read(file, signal)).metadata.get("general.architecture")).toBe("gemma2");
    await rm(file);
    await expect(recent.read(file, signal)).rejects.toMatchObject({ reason: "notFound" });
  });
});
