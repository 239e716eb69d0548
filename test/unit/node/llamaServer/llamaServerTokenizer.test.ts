import { afterEach, describe, expect, it } from "vitest";
import { UserError } from "../../../../src/core/userError";
import { HttpLlamaServer } from "../../../../src/node/llamaServer/llamaServer";
import { planBatches } from "../../../../src/node/llamaServer/llamaServerBatches";
import {
  goodAnswer,
  sendJson,
  startHttpStub,
  type Answer,
  type StubRequest,
  type StubServer,
} from "../../../support/stubServer";

const never = new AbortController().signal;
const stubs: StubServer[] = [];

afterEach(async () => {
  await Promise.all(stubs.splice(0).map((stub) => stub.close()));
});

/** A llama-server whose tokens are characters. */
async function characterServer(tokenize: Answer): Promise<{ server: StubServer; client: HttpLlamaServer }> {
  const server = await startHttpStub(goodAnswer({ "/tokenize": tokenize }));
  stubs.push(server);
  return { server, client: new HttpLlamaServer({ url: server.url }) };
}

type Content = string | readonly (string | number)[];

function contentOf(request: StubRequest): Content {
  return (request.json as { content: Content }).content;
}

const ids = (text: string): number[] => Array.from(text, (char) => char.codePointAt(0) ?? 0);

const tokensOf = (content: Content): number[] =>
  typeof content === "string"
    ? ids(content)
    : content.flatMap((part) => (typeof part === "string" ? ids(part) : [part]));

const answerTokens: Answer = (request, response) => {
  sendJson(response, { tokens: tokensOf(contentOf(request)) });
};

async function counts(client: HttpLlamaServer, texts: readonly string[]): Promise<number[]> {
  const counted = await client.tokenizer(await client.facts(never)).count(texts, never);
  return counted.map(({ tokens }) => tokens);
}

describe("counting in batches", () => {
  it("takes a reply apart at the separators", async () => {
    const { client } = await characterServer(answerTokens);
    expect(await counts(client, ["abc", "", "d", "ef", ""])).toEqual([3, 0, 1, 2, 0]);
  });

  it("counts a batch one by one where the separators do not come back", async () => {
    const asked: Content[] = [];
    const { client } = await characterServer((request, response) => {
      const content = contentOf(request);
      asked.push(content);
      sendJson(response, { tokens: tokensOf(content).filter((id) => id !== -1) });
    });
    expect(await counts(client, ["abc", "d", "ef"])).toEqual([3, 1, 2]);
    expect(asked).toEqual([["abc", -1, "d", -1, "ef"], "abc", "d", "ef"]);
  });

  it("takes no tokens at all for an error, except where nothing is written", async () => {
    const { client } = await characterServer((_, response) => sendJson(response, { tokens: [] }));
    const refused = expect.objectContaining({ reason: "badOutput" }) as unknown;
    await expect(counts(client, ["real text"])).rejects.toEqual(refused);
    await expect(counts(client, ["one", "two"])).rejects.toEqual(refused);
    const tokenizer = client.tokenizer(await client.facts(never));
    await expect(tokenizer.countPrompt("real text", never)).rejects.toEqual(refused);
    // a vocabulary may have nothing for white space
    expect(await counts(client, [" \n"])).toEqual([0]);
  });

  it("keeps few requests in flight, each of bounded size", async () => {
    const texts = Array.from({ length: 3000 }, (_, i) => "x".repeat((i * 37) % 2000));
    let inFlight = 0;
    let most = 0;
    let longest = 0;
    let secondCame = (): void => undefined;
    const second = new Promise<void>((resolve) => (secondCame = resolve));
    const { client } = await characterServer(async (request, response) => {
      most = Math.max(most, ++inFlight);
      longest = Math.max(longest, request.text.length);
      if (inFlight === 2) secondCame();
      await second; // a client with one request at a time would wait here for ever
      inFlight--;
      return answerTokens(request, response);
    });
    expect(await counts(client, texts)).toEqual(texts.map((text) => text.length));
    expect(most).toBeLessThanOrEqual(4);
    expect(longest).toBeLessThan(400_000);
  });

  it("fails once and leaves no request behind when the server dies", async () => {
    let requests = 0;
    const { server, client } = await characterServer((request, response) => {
      if (++requests > 5) response.destroy();
      else return answerTokens(request, response);
    });
    const texts = Array.from({ length: 100 }, () => "x".repeat(200_000));
    const failure = await counts(client, texts).catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(UserError);
    expect(failure).toMatchObject({ reason: "outsideFailed" });
    expect(requests).toBeLessThan(10);
    await expect.poll(() => server.openSockets(), { timeout: 8000 }).toBe(0);
  });

  it("leaves no request behind when it is cancelled", async () => {
    const stop = new AbortController();
    let requests = 0;
    const { server, client } = await characterServer(() => {
      if (++requests === 3) stop.abort(new Error("cancelled"));
    });
    const tokenizer = client.tokenizer(await client.facts(never));
    const texts = Array.from({ length: 50 }, () => "x".repeat(200_000));
    await expect(tokenizer.count(texts, stop.signal)).rejects.toThrow("cancelled");
    await expect.poll(() => server.openSockets(), { timeout: 8000 }).toBe(0);
    expect(requests).toBe(3);
  });
});

describe("planBatches", () => {
  it("keeps every text whole, in order, and out of a batch when empty", () => {
    const texts = ["a", "", "b".repeat(300_000), "c", "d".repeat(262_144), "é"];
    const batches = planBatches(texts);
    expect(batches.map((batch) => batch.items.map((item) => item.index))).toEqual([[0], [2], [3], [4], [5]]);
    expect(batches.at(-1)?.bytes).toBe(2);
  });

  it("bounds bytes and number of texts", () => {
    const batches = planBatches(Array.from({ length: 2000 }, () => "x".repeat(1000)));
    expect(Math.max(...batches.map((batch) => batch.bytes))).toBeLessThanOrEqual(262_144);
    const small = planBatches(Array.from({ length: 2000 }, () => "x"));
    expect(Math.max(...small.map((batch) => batch.items.length))).toBe(512);
  });
});
