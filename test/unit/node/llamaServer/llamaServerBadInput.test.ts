import { afterEach, describe, expect, it } from "vitest";
import { UserError, type UserErrorReason } from "../../../../src/core/userError";
import { HttpLlamaServer, type LlamaServerOptions } from "../../../../src/node/llamaServer/llamaServer";
import { freePort } from "../../../support/freePort";
import {
  goodAnswer,
  goodReplies,
  sendJson,
  startHttpStub,
  startTcpStub,
  type Answer,
  type StubServer,
} from "../../../support/stubServer";

const never = new AbortController().signal;
const key = "sesame-open-4711";
const stubs: StubServer[] = [];

afterEach(async () => {
  await Promise.all(stubs.splice(0).map((stub) => stub.close()));
});

async function stub(starting: Promise<StubServer>): Promise<StubServer> {
  const server = await starting;
  stubs.push(server);
  return server;
}

const http = (answer: Answer): Promise<StubServer> => stub(startHttpStub(answer));

function client(url: string, options: Partial<LlamaServerOptions> = {}): HttpLlamaServer {
  return new HttpLlamaServer({ url, apiKey: key, ...options });
}

/** The one error a user sees, and that it came without the key, and before a server that is silent is given up (10 s). */
async function problemOf(doing: Promise<unknown>, withinSeconds = 8): Promise<UserError> {
  const start = performance.now();
  const outcome = await doing.then(
    () => "no error",
    (cause: unknown) => cause,
  );
  expect((performance.now() - start) / 1000).toBeLessThan(withinSeconds);
  if (!(outcome instanceof UserError)) throw new Error("not an error for users", { cause: outcome });
  expect(outcome.problem.text).not.toBe("");
  expect(outcome.remedy.text).not.toBe("");
  expect(outcome.message).not.toContain(key);
  return outcome;
}

const idle = (server: StubServer): Promise<void> =>
  expect.poll(() => server.openSockets(), { timeout: 8000 }).toBe(0);

describe("what is not a llama-server", () => {
  it("nothing listens", async () => {
    const error = await problemOf(client(`http://127.0.0.1:${await freePort()}`).facts(never));
    expect(error.reason).toBe("refused");
  });

  it("no such host", async () => {
    const error = await problemOf(client("http://no-such-host.invalid:9931").facts(never), 10);
    expect(error.reason).toBe("notFound");
  });

  it.each<[string, Answer]>([
    ["a page not found", (_, response) => response.writeHead(404).end("<html>not here</html>")],
    ["a page", (_, response) => response.writeHead(200).end("<!doctype html><title>Hi</title>")],
    ["another API", (_, response) => sendJson(response, { status: "UP" })],
    ["an array", (_, response) => sendJson(response, [1, 2])],
    ["nothing at all", (_, response) => response.writeHead(204).end()],
    ["an error page", (_, response) => response.writeHead(500).end("<h1>Oops</h1>")],
  ])("%s", async (_, answer) => {
    const server = await http(answer);
    expect((await problemOf(client(server.url).facts(never))).reason).toBe("notFound");
  });

  it("something that does not speak HTTP", async () => {
    const server = await stub(startTcpStub((socket) => socket.write("SSH-2.0-OpenSSH_9.2p1\r\n")));
    expect((await problemOf(client(server.url).facts(never))).reason).toBe("notFound");
  });

  it("something that hangs up", async () => {
    const server = await stub(startTcpStub((socket) => socket.destroy()));
    expect((await problemOf(client(server.url).facts(never))).reason).toBe("notFound");
  });

  it("a redirect, which is not followed: the key goes nowhere else", async () => {
    const asked: string[] = [];
    const elsewhere = await http((request, response) => {
      asked.push(request.path);
      sendJson(response, goodReplies["/props"]);
    });
    const server = await http((_, response) =>
      response.writeHead(302, { location: `${elsewhere.url}/props` }).end(),
    );
    expect((await problemOf(client(server.url).facts(never))).reason).toBe("notFound");
    expect(asked).toEqual([]);
  });

  it.each(["", "not an address", "ftp://127.0.0.1", "http://", "http://user:hunter2@127.0.0.1:9931"])(
    "the address %j",
    (url) => {
      const make = (): HttpLlamaServer => client(url);
      expect(make).toThrow(UserError);
      expect(make).not.toThrow(/hunter2/);
    },
  );
});

describe("a llama-server that does not answer yet or not us", () => {
  // the bodies are those of llama-server b11669
  it.each<[string, UserErrorReason, number, unknown]>([
    ["wants a key", "unauthorized", 401, { message: "Invalid API Key", type: "authentication_error" }],
    ["is loading", "loading", 503, { message: "Loading model", type: "unavailable_error" }],
    ["fails", "outsideFailed", 500, { message: `wrong: ${key}`, type: "server_error" }],
  ])("%s", async (_, reason, status, error) => {
    const server = await http((__, response) => sendJson(response, { error }, status));
    expect((await problemOf(client(server.url).facts(never))).reason).toBe(reason);
  });

  it("sends the key as a bearer token, and none without one", async () => {
    const seen: unknown[] = [];
    const server = await http((request, response) => {
      seen.push(request.headers.authorization);
      return goodAnswer()(request, response);
    });
    await client(server.url).facts(never);
    await new HttpLlamaServer({ url: server.url }).facts(never);
    expect(new Set(seen.slice(0, 3))).toEqual(new Set([`Bearer ${key}`]));
    expect(new Set(seen.slice(3))).toEqual(new Set([undefined]));
  });
});

describe("a server that is too slow", () => {
  it("never answers", async () => {
    const server = await stub(startTcpStub(() => undefined));
    const error = await problemOf(client(server.url, { askSeconds: 0.3 }).facts(never));
    expect(error.reason).toBe("timeout");
    await idle(server);
  });

  it("sends one byte at a time, for ever", async () => {
    const server = await http((_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(" "), 20);
      response.once("close", () => clearInterval(drip));
    });
    const error = await problemOf(client(server.url, { askSeconds: 0.3 }).facts(never));
    expect(error.reason).toBe("timeout");
    await idle(server);
  });

  it("is waited for as long as the caller wants, and no longer", async () => {
    const server = await stub(startTcpStub(() => undefined));
    const stop = new AbortController();
    const asking = client(server.url).facts(stop.signal);
    await expect.poll(() => server.openSockets()).toBe(1);
    stop.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    await idle(server);
  });
});

describe("a server that closes connections it said it would keep", () => {
  const reply = (body: unknown): string => {
    const text = JSON.stringify(body);
    return `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
  };

  it("is asked again on a new one", async () => {
    const server = await stub(
      startTcpStub((socket) => {
        socket.once("data", () => {
          socket.write(reply(goodReplies["/v1/models"]));
          socket.once("data", () => socket.destroy());
        });
      }),
    );
    const llama = client(server.url);
    for (let time = 0; time < 3; time++) expect(await llama.models(never)).toHaveLength(1);
  });

  it("is given up where a new one is closed as well", async () => {
    let connections = 0;
    const server = await stub(
      startTcpStub((socket) => {
        const first = ++connections === 1;
        socket.once("data", () => {
          if (first) socket.write(reply(goodReplies["/v1/models"]));
          else socket.destroy();
          socket.once("data", () => socket.destroy());
        });
      }),
    );
    const llama = client(server.url);
    await llama.models(never);
    expect((await problemOf(llama.models(never))).reason).toBe("notFound");
    expect(connections).toBe(2);
  });
});

describe("garbage", () => {
  /** Sends for ever; tells how much it got rid of. */
  function endless(head: Record<string, string> = {}): { answer: Answer; sent: () => number } {
    let sent = 0;
    const chunk = "x".repeat(65_536);
    const answer: Answer = (_, response) => {
      response.writeHead(200, head);
      const more = (): void => {
        while (!response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) break;
        }
      };
      response.on("drain", more);
      more();
    };
    return { answer, sent: () => sent };
  }

  it("without end is refused after a few MiB", async () => {
    const { answer, sent } = endless();
    const server = await http(answer);
    expect((await problemOf(client(server.url).facts(never))).reason).toBe("badOutput");
    await idle(server);
    expect(sent()).toBeLessThan(16 * 2 ** 20);
  });

  it("of 10 MB is refused by its announced size", async () => {
    const { answer, sent } = endless({ "content-length": "10000000" });
    const server = await http(answer);
    expect((await problemOf(client(server.url).facts(never))).reason).toBe("badOutput");
    await idle(server);
    expect(sent()).toBeLessThan(10_000_000);
  });

  it("of 10 MB instead of token ids is refused as well", async () => {
    const { answer } = endless();
    const server = await http(goodAnswer({ "/tokenize": answer }));
    const llama = client(server.url);
    const counting = llama.tokenizer(await llama.facts(never)).count(["text"], never);
    expect((await problemOf(counting)).reason).toBe("badOutput");
    await idle(server);
  });

  const props = goodReplies["/props"];
  it.each<[string, string, unknown]>([
    ["/props", "n_ctx a text", { ...props, default_generation_settings: { n_ctx: "4096" } }],
    ["/props", "n_ctx zero", { ...props, default_generation_settings: { n_ctx: 0 } }],
    ["/props", "n_ctx huge", { ...props, default_generation_settings: { n_ctx: 1e300 } }],
    ["/props", "no settings inside", { ...props, default_generation_settings: null }],
    ["/props", "no slots", { ...props, total_slots: undefined }],
    ["/props", "a fraction of a slot", { ...props, total_slots: 1.5 }],
    ["/props", "a build that is a number", { ...props, build_info: 11_669 }],
    ["/props", "asleep, perhaps", { ...props, is_sleeping: "no" }],
    ["/slots", "no array", { slots: [] }],
    ["/slots", "slots without size", [{ id: 0, is_processing: false }]],
    ["/slots", "null", null],
    ["/v1/models", "no data", { object: "list" }],
    ["/v1/models", "a model without a name", { data: [{}] }],
    ["/v1/models", "a negative size", { data: [{ id: "m", meta: { size: -1 } }] }],
  ])("%s with %s", async (endpoint, _, body) => {
    const server = await http(goodAnswer({ [endpoint]: (__, response) => sendJson(response, body) }));
    const error = await problemOf(client(server.url).facts(never));
    expect(error.reason).toBe("badOutput");
    expect(error.message).toContain(endpoint);
  });

  it.each([undefined, {}, { tokens: "many" }, { tokens: ["a"] }, { tokens: { length: 3 } }])(
    "/tokenize with %j",
    async (body) => {
      const server = await http(goodAnswer({ "/tokenize": (_, response) => sendJson(response, body) }));
      const llama = client(server.url);
      const tokenizer = llama.tokenizer(await llama.facts(never));
      expect((await problemOf(tokenizer.count(["a", "b"], never))).reason).toBe("badOutput");
      expect((await problemOf(tokenizer.countPrompt("a", never))).reason).toBe("badOutput");
    },
  );

  it("/apply-template without a prompt", async () => {
    const server = await http(goodAnswer({ "/apply-template": (_, response) => sendJson(response, {}) }));
    expect((await problemOf(client(server.url).applyTemplate("hi", never))).reason).toBe("badOutput");
  });
});
