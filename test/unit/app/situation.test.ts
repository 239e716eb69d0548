import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HistoryStore } from "../../../src/app/historyStore";
import { gather, type Setup } from "../../../src/app/situation";
import type { HistoryRecord } from "../../../src/core/history/historyRecord";
import { formatText } from "../../../src/core/format";
import { modelOf } from "../../../src/core/model/modelOf";
import { readGgufHeader } from "../../../src/node/gguf/ggufModelSource";
import type { DepthCurve } from "../../../src/core/prefill/depthCurve";
import type { Situation } from "../../../src/core/report/situation";
import { say } from "../../../src/core/text";
import { UserError } from "../../../src/core/userError";
import { writeSparseModel } from "../../integration/memory/sparseModel";
import { goodAnswer, goodReplies, sendJson, startHttpStub, type StubServer } from "../../support/stubServer";
import { headers } from "../core/memory/fixtures";

const { signal } = new AbortController();
let folder: string;
let model: string;
/** Another model than `model`. */
let other: string;
let stub: StubServer | undefined;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-situation-"));
  model = path.join(folder, "llama.gguf");
  const header = headers().get("llama-3.1-8b-q4_k_m.gguf");
  if (header === undefined) throw new Error("no header");
  await writeSparseModel(model, header);
  other = path.join(folder, "other.gguf");
  const another = headers().get("gemma-2-9b-q4_k_m.gguf");
  if (another === undefined) throw new Error("no other header");
  await writeSparseModel(other, another);
});
afterEach(async () => {
  await stub?.close();
  stub = undefined;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const setup = (changes: Partial<Setup> = {}): Setup => ({
  ...{ server: "none", launch: {}, devices: [], programs: "none" },
  openVocabulary: () =>
    Promise.reject(new UserError("invalidInput", say`No vocabulary.`, say`Choose another file.`)),
  renderTemplate: ({ message }) => Promise.resolve(`<user>${message}</user>`),
  ...changes,
});

const measured = (id: string, flags: string, seconds: number): HistoryRecord => ({
  ...{ version: 1, id, kind: "probe", at: Date.now(), tool: "llama-bench" },
  curve: {
    key: { model, build: "b11669", flags },
    points: [0, 4096, 8192].map((depth) => ({ depth, tokens: 1000, seconds })),
    generation: [],
  },
});

/** A server that answers only who has the key. */
async function locked(): Promise<StubServer> {
  const answer = goodAnswer({ "/tokenize": (_, response) => sendJson(response, { tokens: [7] }) });
  stub = await startHttpStub((request, response) => {
    if (request.headers.authorization === "Bearer right") return answer(request, response);
    const error = { code: 401, message: "Invalid API Key", type: "authentication_error" };
    sendJson(response, { error }, 401);
  });
  return stub;
}

describe("what counts", () => {
  it("is told once, and is what the situation counts with", async () => {
    const order: string[] = [];
    const situation = await gather(
      setup({ modelFile: model, counts: () => Promise.reject(new Error("not opened")) }),
      signal,
      (counter) => order.push(counter.tokenizer.identity.source),
    );
    expect(order).toEqual([situation.tokenizer.identity.source]);
    expect(situation.memory.known).toBe(true);
  });
});

describe("a situation", () => {
  it("has a reason and a remedy for everything that nobody knows", async () => {
    const { server, model: its, memory, curve, tokenizer } = await gather(setup(), signal);
    for (const part of [server, its, memory, curve]) {
      if (part.known) throw new Error("something is known");
      expect([part.why.text, part.remedy.text]).not.toContain("");
    }
    expect(tokenizer.identity.source).toBe("assumed");
  });

  it("holds the curve that was measured with these options, and those of others", async () => {
    const history = new HistoryStore(path.join(folder, "measured"));
    await history.append(measured("1", "", 1));
    await history.append(measured("2", "-ub 256", 2));
    const asked = setup({ history, launch: { ubatchSize: 256 }, modelFile: path.relative("", model) });
    const { curve, origin, curveOf, modelFile } = await gather(asked, signal);
    expect(origin?.id).toBe("2");
    expect(curve).toMatchObject({ known: true, value: { points: [{ seconds: 2 }, {}, {}] } });
    expect(curveOf?.({})).toMatchObject({ known: true, value: { points: [{ seconds: 1 }, {}, {}] } });
    expect(curveOf?.({ ubatchSize: 1024 }).known).toBe(false);
    expect(modelFile).toEqual({ known: true, value: model });
  });

  it("takes a curve that is named before what the history holds, if it is of this setup", async () => {
    const history = new HistoryStore(path.join(folder, "named"));
    await history.append(measured("1", "", 1));
    const { curve } = measured("0", "-ctk f16 -b 2048", 7);
    if (curve === undefined) throw new Error("no curve");
    const file = { name: "c.json", curves: [curve], modifiedAt: Date.now(), undisturbed: true };
    const named = (its: DepthCurve, any: boolean, launch = {}): Promise<Situation> =>
      gather(
        setup({ history, modelFile: model, launch, curve: { file: { ...file, curves: [its] }, any } }),
        signal,
      );
    const same = await named(curve, false);
    expect(same.curve).toMatchObject({ known: true, value: { points: curve.points } });
    expect(same.origin).toBeUndefined();
    expect(same.curveNotes?.map((note) => formatText(note)).join()).toContain("does not tell when");

    const other = await named(curve, false, { cacheTypeK: "q8_0" });
    expect(other.curve).toMatchObject({ known: false });
    expect(other.curve.known || formatText(other.curve.why)).toMatch(
      /another setup: -ctk by default instead of q8_0/,
    );
    const any = await named(curve, true, { cacheTypeK: "q8_0" });
    expect(any.curve).toMatchObject({ known: true, value: { spread: 0.18 } });
    expect(any.curveNotes?.map((note) => formatText(note)).join()).toContain("of another setup");
    const today = { ...curve, measuredAt: new Date().toISOString() };
    expect((await named(today, false)).curve).toMatchObject({ value: { spread: 0.03 } });
    const tomorrow = await named({ ...curve, measuredAt: "2999-01-02T03:04:05Z" }, false);
    expect(tomorrow.curve).toMatchObject({ value: { spread: 0.16 } });
    expect(tomorrow.curveNotes?.map((note) => formatText(note)).join()).toContain("still to come");
  });

  it("is about the model a server has loaded, not about another one that was named", async () => {
    const { parameters, totalBytes } = modelOf(await readGgufHeader(model, signal)).tensors;
    const props = { ...goodReplies["/props"], model_path: "/elsewhere/llama.gguf" };
    const models = { data: [{ id: "llama", meta: { n_params: parameters, size: totalBytes } }] };
    stub = await startHttpStub(
      goodAnswer({
        "/props": (_, response) => sendJson(response, props),
        "/v1/models": (_, response) => sendJson(response, models),
      }),
    );
    const server = { configured: stub.url };
    const same = await gather(setup({ server, modelFile: model }), signal);
    expect(same.modelFile).toEqual({ known: true, value: model });
    expect(same).not.toHaveProperty("otherModel");

    const launch = { model: other, cacheTypeK: "q8_0" };
    const mixed = await gather(setup({ server, launch }), signal);
    expect(mixed).toMatchObject({ otherModel: other, model: { known: false }, memory: { known: false } });
    expect(mixed.launch).toEqual({
      model: "/elsewhere/llama.gguf",
      ctxSize: 4096,
      parallel: 1,
      kvUnified: false,
    });
    const [note] = mixed.launchNotes;
    expect(note && formatText(note)).toMatch(/has loaded llama\.gguf, not other\.gguf.* stop that server/);
  });

  it("asks for the key of a server that refuses the one it has, once", async () => {
    const { url } = await locked();
    const asked: (string | undefined)[] = [];
    const keyFor = (_: string, tried: string | undefined): Promise<string> => {
      asked.push(tried);
      return Promise.resolve("right");
    };
    const server = { configured: url, apiKey: "wrong" };
    expect((await gather(setup({ server, keyFor }), signal)).server.known).toBe(true);
    expect(asked).toEqual(["wrong"]);
  });

  it("says that a key is wanted where nobody has one", async () => {
    const { url } = await locked();
    const keyFor = (): Promise<undefined> => Promise.resolve(undefined);
    const { server } = await gather(setup({ server: { configured: url }, keyFor }), signal);
    expect(server).toMatchObject({ known: false, reason: "unauthorized" });
  });
});
