import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgedModel, forgeModel, type ForgedArchitecture } from "../../support/forge/forgeModel";
import { runLlamaProgram, startLlamaServer } from "../../support/llamaCpp";
import { postJson } from "../../support/postJson";
import { vocabulary } from "../../support/vocabularies/vocabulary";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-forge-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** What llama.cpp logs of each model's caches at `-c 4096 -np 1`: cells and layers, recurrent layers. */
const caches: readonly (readonly [ForgedArchitecture, readonly string[]])[] = [
  ["llama", ["4096 cells, 2 layers"]],
  ["qwen2", ["4096 cells, 2 layers"]],
  ["qwen3", ["4096 cells, 2 layers"]],
  ["gemma3", ["4096 cells, 1 layers", "1024 cells, 1 layers"]],
  ["qwen35moe", ["4096 cells, 1 layers", "1 cells, 2 layers"]],
];

describe("models from the forge", () => {
  it.each(caches)("%s runs in the real llama-server", async (architecture, expected) => {
    const model = await forgedModel({ architecture });
    const server = await startLlamaServer({ model, args: ["-c", "4096", "-np", "1", "-lv", "4"] });
    try {
      const reply = await postJson(`${server.url}/completion`, { prompt: "a b c d", n_predict: 3 });
      expect(reply).toMatchObject({
        status: 200,
        body: { tokens_evaluated: 4, tokens_predicted: 3, timings: { prompt_n: 4 } },
      });
      // its log is whole when it has ended
      await server.stop();
      const logged = Array.from(
        server
          .log()
          .matchAll(/llama_(?:kv_cache|memory_recurrent): size = .*\(\s*(\d+) cells,\s*(\d+) layers/g),
        ([, cells, layers]) => `${cells ?? ""} cells, ${layers ?? ""} layers`,
      );
      expect(logged).toEqual(expected);
    } finally {
      await server.stop();
    }
  });

  it("are written anew to the same bytes, and differ by seed", async () => {
    const sums = await Promise.all(
      [7, 7, 8].map(async (seed, i) => {
        const file = path.join(folder, `seed-${i}.gguf`);
        await forgeModel(file, { seed });
        return createHash("sha256")
          .update(await readFile(file))
          .digest("hex");
      }),
    );
    expect(sums[0]).toBe(sums[1]);
    expect(sums[0]).not.toBe(sums[2]);
  });

  it("can be a header alone that llama-fit-params measures", async () => {
    const file = path.join(folder, "sparse.gguf");
    await forgeModel(file, { size: "slope" }, "sparse");
    const { size, blocks } = await stat(file);
    expect(blocks * 512).toBeLessThan(size / 2);
    const probe = await runLlamaProgram("llama-fit-params", ["-m", file, "-c", "4096", "-fitp", "on"]);
    expect(probe.stdout).toMatch(/^Host \d+ 8 \d+ ?$/m); // 4 layers × 2 heads × 64 × 2 × 2 bytes × 4096 cells
  });

  it("of size slope get visibly slower with depth", async () => {
    const model = await forgedModel({ size: "slope" });
    // one thread: two wait for each other wherever the machine has other work
    const args = ["-m", model, "-p", "512", "-n", "0", "-d", "0,4096", "-t", "1", "-r", "3", "-o", "jsonl"];
    let [shallow, deep] = [0, 0];
    // five times as fast; the fastest of several runs, as other work may slow down all samples of one depth
    for (let runs = 0; runs < 6 && shallow <= 2 * deep; runs++) {
      const { stdout } = await runLlamaProgram("llama-bench", args);
      const [first = 0, second = Infinity] = stdout
        .trim()
        .split("\n")
        .map((line) => Math.max(...(JSON.parse(line) as { samples_ts: number[] }).samples_ts));
      [shallow, deep] = [Math.max(shallow, first), Math.max(deep, second)];
    }
    expect(shallow / deep).toBeGreaterThan(2);
  }, 240_000);
});

describe("the Qwen2.5 vocabulary", () => {
  it("is the real one: 151643 tokens and 22 added", async () => {
    const spec = await vocabulary("qwen2_5");
    expect(spec.tokens).toHaveLength(151_665);
    expect(spec.merges).toHaveLength(151_387);
    expect(spec.tokens[spec.eos ?? -1]).toBe("<|im_end|>");
    expect(spec.tokenTypes[151_657]).toBe(4); // <tool_call> is user-defined
    expect(spec.tokenTypes[151_659]).toBe(3); // <|fim_prefix|> is control
    expect(new Set(spec.tokens).size).toBe(151_665);
  });
});
