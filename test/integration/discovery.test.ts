import { afterEach, expect, it } from "vitest";
import { UserError } from "../../src/core/userError";
import { discoverServer, type Discovery } from "../../src/node/serverDiscovery";
import { forgedModel } from "../support/forge/forgeModel";
import { freePort } from "../support/freePort";
import { startLlamaServer } from "../support/llamaCpp";
import { sendJson, startHttpStub, startTcpStub } from "../support/stubServer";

const signal = AbortSignal.timeout(120_000);
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
  const start = performance.now();
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
  expect(performance.now() - start).toBeLessThan(5000);
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
  expect(keys).toEqual([undefined]);
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
