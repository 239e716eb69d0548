import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measureTemplate, renderPrompt, templateProbe } from "../../src/core/acceptance/chatTemplate";
import type { UserError } from "../../src/core/userError";
import { HttpLlamaServer } from "../../src/node/llamaServer";
import { forgedModel } from "../support/forge/forgeModel";
import { postJson } from "../support/postJson";
import { runLlamaProgram, startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { repository } from "../support/repository";

const signal = AbortSignal.timeout(600_000);
let model: string;
let running: LlamaServerProcess;
let server: HttpLlamaServer;

beforeAll(async () => {
  model = await forgedModel();
  running = await startLlamaServer({ model, args: ["-c", "8192", "-np", "2"] });
  server = new HttpLlamaServer({ url: running.url });
});

afterAll(() => running.stop());

describe("facts of a real llama-server", () => {
  it("are what its endpoints say", async () => {
    const facts = await server.facts(signal);
    expect(facts).toEqual({
      url: running.url,
      build: expect.stringMatching(/^b\d+/) as string,
      role: "single",
      model: {
        id: model,
        path: model,
        nCtxTrain: 32_768,
        parameters: expect.any(Number) as number,
        weightsBytes: expect.any(Number) as number,
      },
      nCtxPerSlot: 4096,
      totalSlots: 2,
      slots: [
        { id: 0, nCtx: 4096, busy: false },
        { id: 1, nCtx: 4096, busy: false },
      ],
      sleeping: false,
      hasVision: false,
    });
  });

  it("lack the slots where the server does not show them", async () => {
    const closed = await startLlamaServer({ model, args: ["-c", "512", "--no-slots"] });
    try {
      const facts = await new HttpLlamaServer({ url: closed.url }).facts(signal);
      expect(facts.slots).toBeUndefined();
      expect(facts.nCtxPerSlot).toBe(512);
    } finally {
      await closed.stop();
    }
  });

  it("say that the server sleeps, and neither asking nor counting wakes it", async () => {
    const drowsy = await startLlamaServer({ model, args: ["-c", "512", "--sleep-idle-seconds", "1"] });
    try {
      const asleep = new HttpLlamaServer({ url: drowsy.url });
      await expect.poll(async () => await isSleeping(drowsy.url), { timeout: 20_000 }).toBe(true);
      const facts = await asleep.facts(signal);
      expect(facts).toMatchObject({ sleeping: true, nCtxPerSlot: 512 });
      const refused = { reason: "loading" } satisfies Partial<UserError>;
      await expect(asleep.tokenizer(facts).count(["text"], signal)).rejects.toMatchObject(refused);
      await expect(asleep.applyTemplate("text", signal)).rejects.toMatchObject(refused);
      expect(await isSleeping(drowsy.url)).toBe(true);
    } finally {
      await drowsy.stop();
    }
  });
});

async function isSleeping(url: string): Promise<unknown> {
  const response = await fetch(`${url}/props`);
  return ((await response.json()) as { is_sleeping: unknown }).is_sleeping;
}

describe("counting through the server", () => {
  const awkward = [
    "",
    "a",
    " leading and trailing ",
    "x\u0000y",
    "<|im_start|>user\nspecial texts count as such<|im_end|>",
    "cafe\u0301 ﷽ 👩‍👩‍👧‍👦 \uFEFF日本語\u2028",
    "\r\n\t\r\n   \n",
    "-1",
    "a".repeat(5000),
    `{"json": "\\ud800 \\n"}`,
  ];

  it("gives each text of a batch the count it has alone, and llama-tokenize's count", async () => {
    const source = path.join(repository, "src/core");
    const names = (await readdir(source, { recursive: true })).filter((name) => name.endsWith(".ts"));
    const files = await Promise.all(names.map((name) => readFile(path.join(source, name), "utf8")));
    const texts = [...awkward, ...files];
    const tokenizer = server.tokenizer(await server.facts(signal));
    const together = (await tokenizer.count(texts, signal)).map(({ tokens }) => tokens);
    const alone: number[] = [];
    for (const text of texts) alone.push((await tokenizer.count([text], signal))[0]?.tokens ?? -1);
    expect(together).toEqual(alone);
    expect(together.slice(0, 2)).toEqual([0, 1]);
    for (const [i, text] of texts.entries()) {
      if (i % 32 === 4) expect(together[i]).toBe(await countByLlamaTokenize(text));
    }
  });

  it("reads a lone surrogate as U+FFFD", async () => {
    const tokenizer = server.tokenizer(await server.facts(signal));
    const [lone, replaced] = await tokenizer.count(["a\uD800b", "a\uFFFDb"], signal);
    expect(lone).toEqual(replaced);
    expect(await tokenizer.countPrompt("a\uDC00b", signal)).toBe(replaced?.tokens);
  });

  it("counts a text larger than a batch whole", async () => {
    const line = "const answer = 42; // and nothing else\n";
    const tokenizer = server.tokenizer(await server.facts(signal));
    const [one, many] = await tokenizer.count([line, line.repeat(20_000), line], signal);
    expect(many?.tokens).toBe((one?.tokens ?? 0) * 20_000);
  });

  it("counts a chat prompt as the server does", async () => {
    const measured = measureTemplate(await server.applyTemplate(templateProbe, signal));
    if (measured.kind !== "measured") throw new Error(measured.problem);
    const message = "How many tokens?\n```ts\nconst a = 1;\n```\n";
    const prompt = renderPrompt(measured.template, message);
    expect(prompt).toBe(await server.applyTemplate(message, signal));
    const counted = await server.tokenizer(await server.facts(signal)).countPrompt(prompt, signal);
    const told = await postJson(`${running.url}/v1/chat/completions/input_tokens`, {
      messages: [{ role: "user", content: message }],
    });
    expect(told.body).toMatchObject({ input_tokens: counted });
  });

  it("stops when it is told to", async () => {
    const stop = new AbortController();
    const tokenizer = server.tokenizer(await server.facts(signal));
    const counting = tokenizer.count(
      Array.from({ length: 40 }, () => "word ".repeat(60_000)),
      stop.signal,
    );
    stop.abort(new Error("enough"));
    await expect(counting).rejects.toThrow("enough");
  });
});

async function countByLlamaTokenize(text: string): Promise<number> {
  // it drops one final newline of what it reads
  const input = text.endsWith("\n") ? `${text}\n` : text;
  const args = ["-m", model, "--stdin", "--ids", "--no-bos", "--no-escape", "--log-disable"];
  const { stdout } = await runLlamaProgram("llama-tokenize", args, { input });
  return (JSON.parse(stdout) as number[]).length;
}
