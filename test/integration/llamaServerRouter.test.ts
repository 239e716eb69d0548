import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ledgerOf } from "../../src/core/conversation/ledger";
import { shownConversation } from "../../src/core/conversation/shownConversation";
import { memoryOfServer } from "../../src/node/machine/watchMemory";
import { HttpLlamaServer } from "../../src/node/llamaServer/llamaServer";
import { forgedModel } from "../support/forge/forgeModel";
import { postJson } from "../support/postJson";
import { startRouter, type RouterServer } from "../support/routerServer";

const signal = new AbortController().signal;
let folder: string;
let router: RouterServer;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "llama-gauge-models-"));
  const model = await forgedModel();
  for (const name of ["first", "second"]) await copyFile(model, path.join(folder, `${name}.gguf`));
  router = await startRouter(folder, ["-c", "1000", "-np", "3"]);
});

afterAll(async () => {
  await router.stop();
  await rm(folder, { recursive: true, force: true });
});

async function states(): Promise<unknown[]> {
  const models = await new HttpLlamaServer({ url: router.url }).models(signal);
  return models.map(({ id, status }) => [id, status]);
}

const facts = (model?: string): Promise<unknown> =>
  new HttpLlamaServer({ url: router.url, ...(model !== undefined && { model }) }).facts(signal);

it("tells what it serves and how it would start it", async () => {
  const [first] = await new HttpLlamaServer({ url: router.url }).models(signal);
  expect(first).toMatchObject({ id: "first", status: "unloaded", failed: false, nCtxTrain: 32_768 });
  const args = first?.args ?? [];
  expect(args.slice(args.indexOf("--ctx-size")).slice(0, 2)).toEqual(["--ctx-size", "1000"]);
});

it("is asked for no model that is not loaded, and loads none", async () => {
  await expect(facts()).rejects.toMatchObject({
    reason: "invalidInput",
    message: expect.stringContaining("first, second") as string,
  });
  await expect(facts("first")).rejects.toMatchObject({ reason: "loading" });
  await expect(facts("third")).rejects.toMatchObject({ reason: "invalidInput" });
  expect(await states()).toEqual([
    ["first", "unloaded"],
    ["second", "unloaded"],
  ]);
});

it("answers for the model that is loaded", async () => {
  await postJson(`${router.url}/models/load`, { model: "second" });
  await expect.poll(states, { timeout: 30_000 }).toContainEqual(["second", "loaded"]);
  // a router holds next to nothing; its child has the model
  const held = await memoryOfServer(router.url, signal);
  const own = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${held?.pid ?? 0}/status`, "utf8"))?.[1];
  expect((held?.residentBytes ?? 0) - 1024 * Number(own)).toBeGreaterThan(20 * 2 ** 20);

  for (const server of [
    new HttpLlamaServer({ url: router.url }),
    new HttpLlamaServer({ url: router.url, model: "second" }),
  ]) {
    const told = await server.facts(signal);
    expect(told).toMatchObject({
      role: "router",
      model: { id: "second", nCtxTrain: 32_768 },
      nCtxPerSlot: 512,
      totalSlots: 3,
    });
    expect(told.slots).toHaveLength(3);
    const tokenizer = server.tokenizer(told);
    expect(await tokenizer.count(["Hello world", "12345"], signal)).toEqual([{ tokens: 2 }, { tokens: 5 }]);
    expect(await server.applyTemplate("Hello", signal)).toContain("user\nHello<|im_end|>");
  }
  expect(await states()).toContainEqual(["first", "unloaded"]);
});

it("writes the requests of its models into one log, which tells them apart", async () => {
  await postJson(`${router.url}/models/load`, { model: "first" });
  await expect.poll(states, { timeout: 30_000 }).toContainEqual(["first", "loaded"]);
  const ask = async (model: string, tokens: number): Promise<void> => {
    const prompt = Array.from({ length: tokens }, (_, i) => 300 + i);
    await postJson(`${router.url}/completion`, { model, prompt, n_predict: 4, ignore_eos: true });
  };
  await Promise.all([ask("first", 100), ask("second", 200)]);
  await ask("second", 300);
  const shown = () =>
    shownConversation({ ledger: ledgerOf(router.log()) }, { now: 0, curveOf: () => undefined }).programs.map(
      ({ name, requests }) => [name, requests.map(({ promptTokens }) => promptTokens)],
    );
  // the one that worked last is first; a child is named by its port
  const name: unknown = expect.stringMatching(/^\d+$/);
  await expect.poll(shown).toEqual([
    [name, [200, 300]],
    [name, [100]],
  ]);
});
