import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Estimates } from "../../../src/app/estimates";
import type { Settings } from "../../../src/app/settings";
import { goodAnswer, sendJson, startHttpStub, type StubServer } from "../../support/stubServer";
import { testHost } from "../../support/appHost";

const { signal } = new AbortController();
const ignore = (): void => undefined;
let folder: string;
let root: string;
let stub: StubServer | undefined;
let props = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "gauge-estimates-"));
  root = path.join(folder, "harbour");
  await mkdir(root);
  await writeFile(path.join(root, "gate.md"), "high tide\n");
  await writeFile(path.join(root, "lamp.md"), "low tide\n");
});
afterEach(async () => {
  await stub?.close();
  stub = undefined;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A server that makes one token of every text. */
async function server(): Promise<StubServer> {
  props = 0;
  const plain = goodAnswer({
    "/tokenize": ({ json }, response) => {
      const { content } = json as { content: string | readonly (string | number)[] };
      const tokens = typeof content === "string" ? [7] : content.map((part) => (part === -1 ? -1 : 7));
      sendJson(response, { tokens });
    },
    "/apply-template": (_, response) => sendJson(response, { prompt: "" }),
  });
  stub = await startHttpStub((request, response) => {
    if (request.path.startsWith("/props")) props++;
    return plain(request, response);
  });
  return stub;
}

describe("estimates", () => {
  it("say of which setup they are", async () => {
    const { url } = await server();
    const settings: Partial<Settings> = { serverUrl: url, serverArguments: "-ub 64" };
    const estimates = new Estimates(testHost(folder, () => settings));
    const { report, situation } = await estimates.estimate(
      { label: "harbour", roots: [root] },
      ignore,
      signal,
    );
    const { model_path: model, build_info: build } = {
      model_path: "/models/model.gguf",
      build_info: "b11669-Debian",
    };
    expect(report.of).toMatchObject({ model, build, options: { ubatchSize: 64, model } });
    expect(report.of.options).toBe(situation.launch);
    expect(report.of.day).toBe(new Date(report.createdAt).toISOString().slice(0, 10));
    await estimates.close();
  });

  it("ask server and machine again unless only files have changed since", async () => {
    const { url } = await server();
    let settings: Partial<Settings> = { serverUrl: url };
    const frozen = (): Partial<Settings> => settings;
    const host = testHost(folder, frozen);
    // as the editor's: one value until something is another one
    let [of, value] = [settings, host.settings()];
    const estimates = new Estimates({
      ...host,
      settings: () => {
        if (of !== settings) [of, value] = [settings, host.settings()];
        return value;
      },
    });
    const request = { label: "harbour", roots: [root] };
    const first = await estimates.estimate(request, ignore, signal);
    const asked = props;
    expect(asked).toBeGreaterThan(0);
    const again = await estimates.estimate(request, ignore, signal, first);
    expect(again.situation).toBe(first.situation);
    // only whether it still is the same
    expect(props).toBe(asked + 1);
    settings = { ...settings, answerReserveTokens: 1 };
    const other = await estimates.estimate(request, ignore, signal, again);
    expect(other.situation).not.toBe(first.situation);
    expect(props).toBe(2 * asked + 1);
    expect(other.report.acceptance.answerReserve).toBe(1);
    await estimates.close();
  });

  it("pack the files that are in the prompt, with what is not saved yet, and end when nobody waits", async () => {
    const gate = path.join(root, "gate.md");
    const unsavedTexts = (): Map<string, { text: string }> => new Map([[gate, { text: "spring tide\n" }]]);
    const estimates = new Estimates(testHost(folder, undefined, { unsavedTexts }));
    const request = { label: "harbour", roots: [root], leftOut: [path.join(root, "lamp.md")] };
    const packed = await estimates.packPrompt(request, signal);
    expect(packed).toContain("spring tide");
    expect(packed).not.toMatch(/high tide|low tide/);
    const gone = AbortSignal.abort();
    await expect(estimates.packPrompt(request, gone)).rejects.toMatchObject({ name: "AbortError" });
    await estimates.close();
  });
});
