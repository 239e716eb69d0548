import { afterEach, describe, expect, it } from "vitest";
import { UserError } from "../../src/core/userError";
import { offeredModels } from "../../src/node/llamaServer/offeredModels";
import { discoverServer, type Discovery } from "../../src/node/llamaServer/serverDiscovery";
import { forgedModel } from "../support/forge/forgeModel";
import { freePort } from "../support/freePort";
import { startLlamaServer } from "../support/llamaCpp";
import { startLlamaSwap } from "../support/llamaSwapServer";
import { postJson } from "../support/postJson";
import { sendJson, startHttpStub, startTcpStub } from "../support/stubServer";

const signal = new AbortController().signal;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

async function realServer(...args: string[]): Promise<{ url: string; port: number }> {
  const server = await startLlamaServer({ model: await forgedModel(), args: ["-c", "512", ...args] });
  closing.push(() => server.stop());
  return server;
}

const outcomes = ({ tries }: Discovery): unknown[] =>
  tries.map(({ outcome }) => (outcome instanceof UserError ? outcome.reason : outcome));

it("takes the first port with a llama-server and says why not the others", async () => {
  const page = await startHttpStub((_, response) => sendJson(response, { hello: "world" }));
  const mute = await startTcpStub(() => undefined);
  closing.push(
    () => page.close(),
    () => mute.close(),
  );
  const [one, two, locked] = [await realServer(), await realServer(), await realServer("--api-key", "k")];
  const ports = [await freePort(), page.port, mute.port, locked.port, one.port, two.port];
  const discovery = await discoverServer({ ports }, signal);
  expect(outcomes(discovery)).toEqual([
    "refused",
    "notFound",
    "timeout",
    "unauthorized",
    "taken",
    "alsoThere",
  ]);
  expect(discovery.found?.facts).toMatchObject({ url: one.url, nCtxPerSlot: 512 });
  await expect.poll(() => mute.openSockets()).toBe(0);
});

it("asks only the configured address where there is one, with its key", async () => {
  const asked: string[] = [];
  const other = await startHttpStub((request, response) => {
    asked.push(request.path);
    sendJson(response, {});
  });
  closing.push(() => other.close());
  const locked = await realServer("--api-key", "sesame");
  const configured = `127.0.0.1:${locked.port}`;
  const ports = [other.port];
  const open = await discoverServer({ configured, apiKey: "sesame", ports }, signal);
  expect(open.found?.facts.url).toBe(locked.url);
  expect(outcomes(await discoverServer({ configured, apiKey: "wrong", ports }, signal))).toEqual([
    "unauthorized",
  ]);
  expect(outcomes(await discoverServer({ configured: "not an address", ports }, signal))).toEqual([
    "invalidInput",
  ]);
  expect(asked).toEqual([]);
});

it("sends the configured server's key to no other port", async () => {
  const keys: unknown[] = [];
  const other = await startHttpStub((request, response) => {
    keys.push(request.headers.authorization);
    sendJson(response, {});
  });
  closing.push(() => other.close());
  await discoverServer({ apiKey: "sesame", ports: [other.port] }, signal);
  expect(keys.length).toBeGreaterThan(0);
  expect(keys.filter((key) => key !== undefined)).toEqual([]);
});

it("stops when it is told to", async () => {
  const mute = await startTcpStub(() => undefined);
  closing.push(() => mute.close());
  const stop = new AbortController();
  const searching = discoverServer({ ports: [mute.port] }, stop.signal);
  await expect.poll(() => mute.openSockets()).toBe(1);
  stop.abort(new Error("enough"));
  await expect(searching).rejects.toThrow("enough");
  await expect.poll(() => mute.openSockets()).toBe(0);
});

it("finds running servers on ports nobody would try, with their processes, and notices that they are gone", async () => {
  const [one, two] = [await realServer("-np", "1"), await realServer("-np", "2", "--api-key", "k")];
  const own = async (): Promise<unknown[]> => {
    const { tries } = await discoverServer({ processes: true, ports: [] }, signal);
    return tries
      .filter(({ url }) => url === one.url || url === two.url)
      .map(({ url, source, facts }) => [url, source.kind, facts?.nCtxPerSlot])
      .toSorted();
  };
  const expected = [
    [one.url, "process", 512],
    [two.url, "process", undefined],
  ];
  expect(await own()).toEqual(expected.toSorted());
  await Promise.all(closing.splice(0).map((close) => close()));
  await expect.poll(own, { timeout: 20_000 }).toEqual([]);
});

it("keeps the order: what was seen in a terminal before the usual ports", async () => {
  const [one, two] = [await realServer(), await realServer()];
  const source = { kind: "terminal", name: "zsh" } as const;
  const { found, tries } = await discoverServer(
    { addresses: [{ url: two.url, source }], ports: [one.port, two.port] },
    signal,
  );
  expect(found?.facts.url).toBe(two.url);
  expect(tries.map(({ url, source: { kind }, outcome }) => [url, kind, outcome])).toEqual([
    [two.url, "terminal", "taken"],
    [one.url, "usualPort", "alsoThere"],
  ]);
});

describe("llama-swap (a stand-in made after its source)", () => {
  it("is asked for the running llama-server behind it, and loads none", async () => {
    const real = await realServer();
    const swap = await startLlamaSwap({ "my model/q8": real.url, other: undefined });
    closing.push(() => swap.close());
    const find = (model?: string): Promise<Discovery> =>
      discoverServer({ ports: [swap.port], ...(model !== undefined && { model }) }, signal);
    expect(outcomes(await find())).toEqual(["loading"]);
    swap.states.set("my model/q8", "starting");
    expect(outcomes(await find())).toEqual(["loading"]);
    expect(swap.loaded).toEqual([]);
    swap.states.set("my model/q8", "ready");
    const { found } = await find();
    expect(found?.facts).toMatchObject({ url: `${swap.url}/upstream/my%20model/q8`, nCtxPerSlot: 512 });
    // through the proxy as llama-server itself counts
    const text = "int main() { return 0; }";
    const direct = (
      await postJson(`${real.url}/tokenize`, { content: text, add_special: true, parse_special: true })
    ).body as { readonly tokens: readonly number[] };
    if (found === undefined) throw new Error("not found");
    expect(await found.server.tokenizer(found.facts).countPrompt(text, signal)).toBe(direct.tokens.length);
    expect((await find("my model/q8")).found?.facts.nCtxPerSlot).toBe(512);
    expect(outcomes(await find("other"))).toEqual(["loading"]);
    swap.states.set("other", "ready");
    expect(outcomes(await find())).toEqual(["invalidInput"]);
    expect(await offeredModels({ url: swap.url }, signal)).toEqual([
      { id: "my model/q8", loaded: true },
      { id: "other", loaded: true },
    ]);
    expect(await offeredModels({ url: real.url }, signal)).toEqual([]);
    swap.states.delete("my model/q8");
    swap.states.delete("other");
    expect(outcomes(await find())).toEqual(["loading"]);
    expect(swap.loaded).toEqual([]);
  });

  it("that wants a key is told apart from what is no server, and the key opens it", async () => {
    const real = await realServer();
    const swap = await startLlamaSwap({ a: real.url }, "sesame");
    closing.push(() => swap.close());
    swap.states.set("a", "ready");
    const configured = swap.url;
    expect(outcomes(await discoverServer({ configured }, signal))).toEqual(["unauthorized"]);
    const { found } = await discoverServer({ configured, apiKey: "sesame" }, signal);
    expect(found?.facts.nCtxPerSlot).toBe(512);
  });
});
