import { afterEach, describe, expect, it } from "vitest";
import { Servers } from "../../../src/app/servers";
import { formatText } from "../../../src/core/format";
import { testHost } from "../../support/appHost";
import { goodAnswer, sendJson, startHttpStub, type StubServer } from "../../support/stubServer";

const { signal } = new AbortController();
const stubs: StubServer[] = [];
afterEach(async () => {
  for (const stub of stubs.splice(0)) await stub.close();
});

async function answering(answer = goodAnswer()): Promise<string> {
  const stub = await startHttpStub(answer);
  stubs.push(stub);
  return stub.url;
}

const locked = (): Promise<string> =>
  answering((_, response) =>
    sendJson(
      response,
      { error: { code: 401, message: "Invalid API Key", type: "authentication_error" } },
      401,
    ),
  );

/** A window that is not trusted, so that no processes are listed, and that has seen these addresses in a terminal. */
function servers(urls: readonly string[], serverUrl = "", key?: string): Servers {
  const source = { kind: "terminal", name: "zsh" } as const;
  return new Servers(
    testHost("", () => ({ serverUrl }), {
      trusted: () => false,
      serverAddresses: () => Promise.resolve(urls.map((url) => ({ url, source }))),
      apiKey: () => Promise.resolve(key),
    }),
  );
}

describe("servers to choose from", () => {
  it("are those that answer, with what one request may hold, and those that want a key", async () => {
    const [open, shut] = [await answering(), await locked()];
    const found = await servers([open, shut]).candidates(signal);
    const about = (url: string): string => {
      const candidate = found.find((its) => its.url === url);
      return candidate === undefined ? "" : formatText(candidate.description);
    };
    expect(about(open)).toMatch(/model\.gguf, 4,096 tokens per request \(.*zsh.*\)/);
    expect(about(shut)).toMatch(/API key.*zsh/);
  });

  it("include the configured one, also where nothing answers there", async () => {
    const url = "http://127.0.0.1:1";
    const found = await servers([url], url).candidates(signal);
    expect(found.filter((its) => its.url === url).map((its) => formatText(its.description))).toEqual([
      "from the settings",
    ]);
  });

  it("that want a key are found among all", async () => {
    const [open, shut] = [await answering(), await locked()];
    expect(await servers([open, shut]).locked(signal)).toBe(shut);
  });

  it("are asked for their models with the key that is stored for them", async () => {
    const asked: (string | undefined)[] = [];
    const router = await answering(
      goodAnswer({
        "/v1/models": ({ headers }, response) => {
          asked.push(headers.authorization);
          const of = (id: string, status: string) => ({ id, status: { value: status } });
          sendJson(response, { object: "list", data: [of("a", "loaded"), of("b", "unloaded")] });
        },
      }),
    );
    expect(await servers([], "", "right").models(router, signal)).toEqual([
      { id: "a", loaded: true },
      { id: "b", loaded: false },
    ]);
    expect(asked).toEqual(["Bearer right"]);
  });
});
