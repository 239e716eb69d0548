import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { measureTemplate, renderPrompt, templateProbe } from "../../src/core/acceptance/chatTemplate";
import { UserError } from "../../src/core/userError";
import { HttpLlamaServer } from "../../src/node/llamaServer/llamaServer";
import { forgedModel } from "../support/forge/forgeModel";
import { dimensions } from "../support/forge/sizes";
import { postJson } from "../support/postJson";
import { runLlamaProgram, startLlamaServer, type LlamaServerProcess } from "../support/llamaCpp";
import { repository } from "../support/repository";

const signal = new AbortController().signal;
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
        embeddingLength: dimensions.tiny.embedding,
        vocabularySize: expect.any(Number) as number,
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

describe("a real server that is not at its best", () => {
  it("is refused, then loading, then there, and nothing else", async () => {
    const slow = await startLlamaServer({ model, args: ["-c", "512"], until: "listening" });
    try {
      const asked = new HttpLlamaServer({ url: slow.url });
      const outcome = (): Promise<string> =>
        asked.facts(signal).then(
          () => "ready",
          (cause: unknown) => (cause instanceof UserError ? cause.reason : String(cause)),
        );
      const seen = new Set<string>();
      await expect
        .poll(
          async () => {
            const now = await outcome();
            seen.add(now);
            return now;
          },
          { timeout: 30_000, interval: 10 },
        )
        .toBe("ready");
      expect([...seen].filter((reason) => reason !== "loading")).toEqual(["ready"]);
    } finally {
      await slow.stop();
    }
  });

  it("dies while tokens are counted: one clear error", async () => {
    const doomed = await startLlamaServer({ model, args: ["-c", "512"] });
    try {
      const asked = new HttpLlamaServer({ url: doomed.url });
      const tokenizer = asked.tokenizer(await asked.facts(signal));
      const texts = Array.from({ length: 200 }, () => "word ".repeat(50_000));
      const failure = tokenizer.count(texts, signal).catch((cause: unknown) => cause);
      await tokenizer.count(["the requests before this one are with the server"], signal);
      process.kill(doomed.pid, "SIGKILL");
      // not that it took too long
      expect(await failure).toMatchObject({ name: "UserError", reason: "outsideFailed" });
    } finally {
      await doomed.stop();
    }
  });

  it("wants a key: says so, takes the right one, and never shows it", async () => {
    const key = "sesame-open-4711";
    const locked = await startLlamaServer({ model, args: ["-c", "512"], env: { LLAMA_API_KEY: key } });
    try {
      for (const apiKey of [undefined, "wrong"]) {
        const outside = new HttpLlamaServer({ url: locked.url, ...(apiKey !== undefined && { apiKey }) });
        await expect(outside.facts(signal)).rejects.toMatchObject({ reason: "unauthorized" });
      }
      const inside = new HttpLlamaServer({ url: locked.url, apiKey: key });
      const facts = await inside.facts(signal);
      expect(await inside.tokenizer(facts).count(["a", "b"], signal)).toHaveLength(2);
      expect(JSON.stringify([facts, inside])).not.toContain(key);
    } finally {
      await locked.stop();
    }
  });

  it("answers its facts while it computes, with the slot at work", async () => {
    const stop = new AbortController();
    const generating = postJson(
      `${running.url}/completion`,
      { prompt: "a b c", n_predict: 4000, ignore_eos: true },
      stop.signal,
    );
    await expect
      .poll(
        async () => (await server.facts(signal)).slots?.some((slot) => slot.busy && (slot.tokens ?? 0) > 3),
        {
          timeout: 20_000,
        },
      )
      .toBe(true);
    stop.abort();
    await expect(generating).rejects.toThrow();
  });
});

describe("chat templates", () => {
  it.each([
    ["one that trims", "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</>{% endfor %}go:", true],
    ["one that keeps", "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}", false],
  ])("%s is measured, and its prompts are the server's", async (_, template, trims) => {
    const own = await startLlamaServer({ model, args: ["-c", "512", "--chat-template", template] });
    try {
      const asked = new HttpLlamaServer({ url: own.url });
      const measured = measureTemplate(await asked.applyTemplate(templateProbe, signal));
      expect(measured).toMatchObject({ kind: "measured", template: { trims } });
      if (measured.kind !== "measured") return;
      const message = "\n  indented\n\ttext \u00a0\n\n";
      expect(renderPrompt(measured.template, message)).toBe(await asked.applyTemplate(message, signal));
    } finally {
      await own.stop();
    }
  });

  it("one that refuses the message is an error with the server's words", async () => {
    const template =
      "{% if 'Marker' in messages[0].content %}{{ raise_exception('no markers here') }}{% endif %}{{ messages[0].content }}";
    const own = await startLlamaServer({ model, args: ["-c", "512", "--chat-template", template] });
    try {
      const asked = new HttpLlamaServer({ url: own.url });
      await expect(asked.applyTemplate(templateProbe, signal)).rejects.toMatchObject({
        name: "UserError",
        message: expect.stringContaining("no markers here") as string,
      });
    } finally {
      await own.stop();
    }
  });
});

async function countByLlamaTokenize(text: string): Promise<number> {
  // it drops one final newline of what it reads
  const input = text.endsWith("\n") ? `${text}\n` : text;
  const args = ["-m", model, "--stdin", "--ids", "--no-bos", "--no-escape", "--log-disable"];
  const { stdout } = await runLlamaProgram("llama-tokenize", args, { input });
  return (JSON.parse(stdout) as number[]).length;
}
