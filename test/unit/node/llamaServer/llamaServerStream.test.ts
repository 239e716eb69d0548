import { afterEach, describe, expect, it } from "vitest";
import { UserError } from "../../../../src/core/userError";
import { LadderServer, AnswerFailed } from "../../../../src/node/ladder/ladderServer";
import { LlamaServerConnection } from "../../../../src/node/llamaServer/llamaServerConnection";
import { streamCompletion, type StreamedAnswer } from "../../../../src/node/llamaServer/serverProbeStream";
import { freePort } from "../../../support/freePort";
import { sendJson, startHttpStub, type Answer, type StubServer } from "../../../support/stubServer";

const never = new AbortController().signal;
const stubs: StubServer[] = [];

afterEach(async () => {
  await Promise.all(stubs.splice(0).map((stub) => stub.close()));
});

async function http(answer: Answer): Promise<StubServer> {
  const server = await startHttpStub(answer);
  stubs.push(server);
  return server;
}

function probe(url: string, signal = never): Promise<StreamedAnswer> {
  const request = { prompt: [1, 2], generatedTokens: 1, timeoutSeconds: 30 };
  return streamCompletion(new LlamaServerConnection(url, "sesame"), request, signal);
}

const answer = (url: string, timeoutSeconds = 30): Promise<unknown> =>
  new LadderServer({ url, apiKey: "sesame" })
    .answer({ prompt: [1, 2], answerTokens: 1, useCache: false, seed: 1, timeoutSeconds }, never)
    .catch((error: unknown) => error);

const reasonOf = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => (error instanceof UserError ? error.reason : error));

// the events and errors are those of llama-server b11669
const data = (event: unknown): string => `data: ${JSON.stringify(event)}\n\n`;
const progress = data({ content: "", prompt_progress: { total: 2, cache: 0, processed: 2, time_ms: 40 } });
const end = data({
  content: "b",
  stop: true,
  stop_type: "limit",
  timings: { cache_n: 0, prompt_n: 2, prompt_ms: 50, predicted_n: 1, predicted_ms: 10 },
});

describe("a streamed answer", () => {
  it("brings progress, text and timings, also in pieces", async () => {
    const server = await http((_, response) => {
      const text = `: ping\n\n${progress}${data({ content: "é", stop: false })}${end}data: [DONE]\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
      response.end();
    });
    expect(await probe(server.url)).toMatchObject({
      ended: "finished",
      cached: 0,
      progress: [{ processed: 2, seconds: 0.04 }],
      timings: { promptTokens: 2, promptSeconds: 0.05, generatedTokens: 1, generationSeconds: 0.01 },
    });
    expect(await answer(server.url)).toMatchObject({ text: "éb", stoppedByLimit: true, truncated: false });
  });

  it("that breaks off is lost, with what was read until then", async () => {
    const server = await http((_, response) => {
      response.writeHead(200).write(progress, () => response.destroy());
    });
    expect(await probe(server.url)).toMatchObject({ ended: "disconnected", progress: [{ processed: 2 }] });
    expect(await answer(server.url)).toMatchObject({ failure: "died", atTokens: 2 });
  });

  it("that is given up closes the connection", async () => {
    const stop = new AbortController();
    const server = await http((_, response) => void response.writeHead(200).write(progress));
    const running = probe(server.url, stop.signal);
    await expect.poll(() => server.openSockets(), { timeout: 8000 }).toBe(1);
    stop.abort();
    expect((await running).ended).toBe("aborted");
    await expect.poll(() => server.openSockets(), { timeout: 8000 }).toBe(0);
  });

  it("that takes too long is a timeout", async () => {
    const server = await http((_, response) => void response.writeHead(200).write(progress));
    expect(await answer(server.url, 0.3)).toMatchObject({ failure: "timeout" });
  });
});

describe("a stream that is refused", () => {
  it.each([
    [401, { message: "Invalid API Key", type: "authentication_error" }, "unauthorized", "error"],
    [503, { message: "Loading model", type: "unavailable_error" }, "loading", "error"],
    [
      400,
      {
        message: "request (9 tokens) exceeds the available context size (8 tokens)",
        type: "exceed_context_size_error",
      },
      "outsideFailed",
      "tooLong",
    ],
  ] as const)("with status %d", async (status, error, reason, failure) => {
    const server = await http((_, response) =>
      sendJson(response, { error: { code: status, ...error } }, status),
    );
    expect(await reasonOf(probe(server.url))).toBe(reason);
    expect(await answer(server.url)).toMatchObject({ failure });
  });

  it("in the middle is told in the server's words", async () => {
    const error = { code: 500, message: "Context size has been exceeded.", type: "server_error" };
    const server = await http((_, response) => void response.writeHead(200).end(progress + data({ error })));
    await expect(probe(server.url)).rejects.toThrow(/Context size has been exceeded/);
    expect(await answer(server.url)).toEqual(new AnswerFailed("error", error.message, 2));
  });

  it("because nobody listens any more", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await reasonOf(probe(url))).toBe("outsideFailed");
    expect(await answer(url)).toMatchObject({ failure: "died" });
  });

  it("because it is no llama-server's: an event without end", async () => {
    const server = await http((_, response) => void response.writeHead(200).end(`data: ${"x".repeat(2e6)}`));
    expect(await reasonOf(probe(server.url))).toBe("badOutput");
    expect(await answer(server.url)).toMatchObject({ failure: "error" });
  });
});
