import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gather, type Setup } from "../../src/app/situation";
import { parseArguments } from "../../src/core/launch/commandLine";
import { breakdown } from "../../src/core/memory/budget/breakdown";
import { modelOf } from "../../src/core/model/modelOf";
import { estimate } from "../../src/core/report/estimate";
import { defaultPackTemplate, packText } from "../../src/core/tokens/pack";
import { workspaceFiles } from "../../src/node/files/workspaceFiles";
import { readGgufHeader } from "../../src/node/gguf/ggufModelSource";
import { openGgufTokenizer, type GgufTokenizer } from "../../src/node/tokenizer/ggufTokenizer";
import { TemplateRenderer } from "../../src/node/template/templateRenderer";
import { buildWorker, type BuiltWorker } from "../support/builtWorker";
import { mixedCorpus } from "../support/corpus";
import { startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { postJson } from "../support/postJson";
import { realModel, type RealModelName } from "../support/realModels";
import { repository } from "../support/repository";

const signal = new AbortController().signal;
const never = {
  exclude: [],
  useIgnoreFiles: false,
  maxFileBytes: 2 ** 20,
  maxFiles: 100,
  workspaceFolders: [],
};

describe.each(["chat", "window"] as const)("the real %s model", (name: RealModelName) => {
  let model: string;
  let workers: readonly BuiltWorker[];
  let tokenizer: GgufTokenizer;
  let server: LlamaServerProcess;

  beforeAll(async () => {
    ({ file: model } = await realModel(name));
    workers = await Promise.all([buildWorker(), buildWorker("src/node/template/worker.ts")]);
    tokenizer = await openGgufTokenizer(model, { signal, workerFile: workers[0]?.file ?? "" });
    server = await startLlamaServer({ model, args: ["-c", "4096", "-np", "1", "--no-warmup"] });
  });
  afterAll(async () => {
    await server.stop();
    await tokenizer.close();
    await Promise.all(workers.map((worker) => worker.remove()));
  });

  const setup = (changes: Partial<Setup>): Setup => {
    const renderer = new TemplateRenderer(workers[1]?.file);
    return {
      ...{ server: "none", launch: { model, ctxSize: 4096, parallel: 1 }, devices: [], programs: "none" },
      openVocabulary: () => Promise.resolve(tokenizer),
      renderTemplate: (job, its) => renderer.render(job, its),
      ...changes,
    };
  };

  it("reads a chat request as many tokens long as the estimate says, with and without the server", async () => {
    const roots = [path.join(repository, "src/core/acceptance/chatTemplate.ts")];
    const files = workspaceFiles();
    const request = {
      scope: { label: "one file", roots },
      ...{ walk: never, pack: defaultPackTemplate, answerReserve: 256 },
    };
    const estimated = async (changes: Partial<Setup>) => {
      const situation = await gather(setup(changes), signal);
      return estimate(request, situation, { files, clock: Date }, () => undefined, signal);
    };
    const [offline, online] = [
      await estimated({}),
      await estimated({ server: { configured: server.url, processes: false } }),
    ];
    const listed = [];
    for await (const item of files.list(roots, never, signal))
      if (item.kind === "file") listed.push(item.file);
    const pieces = [];
    for await (const piece of packText(listed, defaultPackTemplate, files, signal)) pieces.push(piece);
    const { body } = await postJson(`${server.url}/v1/chat/completions`, {
      messages: [{ role: "user", content: pieces.join("") }],
      max_tokens: 1,
    });
    const { metadata } = await readGgufHeader(model, signal);
    const hasTemplate = metadata.has("tokenizer.chat_template");
    const { usage } = body as { usage: { prompt_tokens: number } };
    expect(offline.acceptance.promptTokens).toBe(usage.prompt_tokens);
    expect(online.acceptance.promptTokens).toBe(usage.prompt_tokens);
    expect([offline.template?.from, online.template?.from]).toEqual([
      hasTemplate ? "model" : "fallback",
      "server",
    ]);
  });

  it("has the token ids of the server for every text of the corpus", { timeout: 240_000 }, async () => {
    for (const [kind, texts] of mixedCorpus()) {
      for (const [at, text] of texts.entries()) {
        const { body } = await postJson(`${server.url}/tokenize`, { content: text, add_special: true });
        const flags = { addSpecial: true, parseSpecial: true };
        const ours = Array.from(await tokenizer.encode(text, flags, signal));
        expect(ours, `${kind} ${at}`).toEqual((body as { tokens: number[] }).tokens);
      }
    }
  });

  it.each([
    "-np 1 -ctk f16 -ctv f16 -fa on",
    "-np 4 -ctk q8_0 -ctv q8_0 -fa on",
    "-np 1 -ctk q4_0 -ctv q4_0 -fa on --swa-full",
    "-np 4 -fa off",
  ])("needs the memory that the server's log says, to its last digit: %s", async (said) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "gauge-real-"));
    try {
      const log = path.join(folder, "server.log");
      const args = ["-c", "4096", ...said.split(" ")];
      const other = ["--no-warmup", "-lv", "4", "--log-file", log];
      await (await startLlamaServer({ model, args: [...args, ...other] })).stop();
      const text = await readFile(log, "utf8");
      const sizes = (what: string): readonly string[] =>
        Array.from(
          text.matchAll(new RegExp(`${what} buffer size = +([\\d.]+) MiB`, "g")),
          ([, size]) => size ?? "",
        );
      const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(2);
      const header = modelOf(await readGgufHeader(model, signal));
      const { rows, caches, plan } = breakdown(header, parseArguments(args).options, [], {});
      expect(sizes("KV")).toEqual(caches.map(({ bytes }) => mebibytes(bytes)));
      expect(sizes("compute")).toEqual(rows.map(({ compute }) => mebibytes(compute.bytes)));
      expect(sizes("output")).toEqual([mebibytes(4 * header.vocabularySize * plan.outputRows)]);
      // a file that is repacked in part is listed in many pieces, each rounded
      const weights = sizes("model").map(Number);
      const sum = weights.reduce((total, size) => total + size, 0);
      expect(Math.abs(sum - (rows[0]?.weights ?? 0) / 2 ** 20)).toBeLessThanOrEqual(0.01 * weights.length);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
