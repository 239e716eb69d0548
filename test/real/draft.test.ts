import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { parseArguments } from "../../src/core/launch/commandLine";
import { breakdown } from "../../src/core/memory/budget/breakdown";
import { modelOf } from "../../src/core/model/modelOf";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { startLlamaServer } from "../support/llamaCpp";
import { postJson } from "../support/postJson";
import { realModel } from "../support/realModels";

const signal = new AbortController().signal;

it("has n-gram drafts accepted, which need no more memory than is computed", async () => {
  const { file: model, real } = await realModel("chat");
  const folder = await mkdtemp(path.join(os.tmpdir(), "gauge-real-"));
  try {
    const log = path.join(folder, "server.log");
    const args = ["-c", "1024", "-np", "1", "--spec-type", "ngram-simple"];
    const other = ["-t", "1", "--no-warmup", "-lv", "4", "--log-file", log];
    const server = await startLlamaServer({ model, args: [...args, ...other] });
    let timings: { readonly draft_n?: number; readonly draft_n_accepted?: number };
    try {
      const lines = Array.from({ length: 5 }, (_, i) => `${i + 1}. The entry of this line is in force.`);
      const prompt = `${lines.join("\n")}\n\n${lines.join("\n")}\n\n${lines.slice(0, 2).join("\n")}\n`;
      const asked = { prompt, n_predict: 32, temperature: 0, ignore_eos: true };
      ({ timings } = (await postJson(`${server.url}/completion`, asked)).body as {
        readonly timings: typeof timings;
      });
    } finally {
      await server.stop();
    }
    const text = await readFile(log, "utf8");
    const sizes = (what: string): readonly string[] =>
      Array.from(
        text.matchAll(new RegExp(`${what} buffer size = +([\\d.]+) MiB`, "g")),
        ([, size]) => size ?? "",
      );
    const header = modelOf(await readGgufHeader(model, signal));
    const { rows, caches } = breakdown(header, parseArguments(args).options, [], {});
    const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(2);
    expect(sizes("KV")).toEqual(caches.map(({ bytes }) => mebibytes(bytes)));
    expect(sizes("compute")).toEqual(rows.map(({ compute }) => mebibytes(compute.bytes)));
    if (real) expect(timings.draft_n_accepted ?? 0).toBeGreaterThan(0);
  } finally {
    await rm(folder, { recursive: true });
  }
});
