import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Settings } from "../../../src/app/settings";
import { HistoryStore } from "../../../src/app/historyStore";
import { Speed } from "../../../src/app/speed";
import { feasibilityOf, comparisonDepths, planComparison } from "../../../src/core/bench/comparisonPlan";
import { formatText } from "../../../src/core/format";
import type { HistoryRecord } from "../../../src/core/history/historyRecord";
import { known } from "../../../src/core/known";
import { modelOf } from "../../../src/core/model/modelOf";
import type { CurveKey, DepthCurve } from "../../../src/core/prefill/depthCurve";
import type { Situation } from "../../../src/core/report/situation";
import { goodAnswer, sendJson, startHttpStub } from "../../support/stubServer";
import { writeProgram } from "../../support/program";
import { sampleSettings } from "../../support/sampleSettings";
import { sampleSituation, serverAt } from "../../support/sampleSituation";
import { headers } from "../core/memory/fixtures";

const { signal } = new AbortController();
const key: CurveKey = { model: "/models/model.gguf", build: "b11669-Debian", flags: "" };

/** 1000 tokens a second at every depth, `factor` times slower. */
const curve = (factor = 1): DepthCurve => ({
  key,
  points: [0, 4096, 8192].map((depth) => ({ depth, tokens: 1000, seconds: factor })),
  generation: [],
});
const probe = (id: string, factor = 1): HistoryRecord => ({
  version: 1,
  id,
  kind: "probe",
  at: Number(id),
  tool: "llama-server",
  curve: curve(factor),
});
const measured = (id: string): Partial<Situation> => ({
  curve: known(curve()),
  origin: {
    id,
    kind: "probe",
    tool: "llama-server",
    measuredAt: 1,
    sameBuild: true,
    requests: 0,
    factor: 1,
  },
});

let folder: string;
let history: HistoryStore;
let warnings: string[];
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "speed-"));
  history = new HistoryStore(folder);
  warnings = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function speed(
  situation: Partial<Situation>,
  settings: Partial<Settings> = {},
  host: { readonly trusted?: boolean; readonly shown?: Situation; readonly apiKey?: string } = {},
): Speed {
  return new Speed({
    log: { info: () => undefined, warn: (message) => warnings.push(message), error: () => undefined },
    cacheFolder: folder,
    settings: () => sampleSettings(settings),
    trusted: () => host.trusted ?? true,
    apiKey: () => Promise.resolve(host.apiKey),
    situation: () => Promise.resolve(sampleSituation(situation)),
    shownSituation: () => host.shown,
  });
}

describe("baselines", () => {
  it("are recorded from the run in use, listed newest first, and compared with what was measured since", async () => {
    for (const record of [probe("1"), probe("2"), probe("3", 2)]) await history.append(record);
    const before = speed(measured("1"));
    expect(await before.currentRun(signal)).toEqual({ id: "1", key });
    await before.recordBaseline("1", "before the update", signal);
    await before.recordBaseline("2", "again", signal);
    const [newest, first] = await before.baselines(signal);
    expect([newest?.label, first?.label]).toEqual(["again", "before the update"]);
    const found = await before.besideBaseline({ baselineId: first?.id ?? "", runId: "3" }, signal);
    expect(found.rows.map(({ prefillChange }) => prefillChange)).toEqual([1, 1, 1, 1]);
    expect(formatText(found.sentence)).toMatch(/takes 100\s?% longer/);
    await expect(before.besideBaseline({ baselineId: "gone", runId: "3" }, signal)).rejects.toThrow(
      /no longer has this run/,
    );
  });

  it("have no current run where nothing was measured on this setup", async () => {
    expect(await speed({}).currentRun(signal)).toBeUndefined();
  });
});

describe("the history", () => {
  it("is listed with what cannot be read, and exported whole", async () => {
    await history.append(probe("1"));
    await history.append(probe("2"));
    await appendFile(history.file, '{"version":1,"id":"torn\n{"version":99,"id":"x","kind":"probe"}\n');
    const { runs, unreadable } = await speed({}).runs(signal);
    expect(runs.map(({ id }) => id)).toEqual(["2", "1"]);
    expect(unreadable).toBe(2);
    const file = path.join(folder, "out.json");
    expect(await speed({}).exportHistory("json", file, signal)).toBe(2);
    expect(await readFile(file, "utf8")).toContain('"id": "2"');
  });

  it("takes in curves of a bench, as measured on the model of now where the user says so", async () => {
    const file = path.join(folder, "bench.md");
    await writeFile(
      file,
      "| model | backend | threads | test | t/s |\n| --- | --- | ---: | ---: | ---: |\n" +
        "| llama 1B | CPU | 2 | pp512 @ d4096 | 256.00 ± 1.00 |\n\nbuild: abc1234 (5000)\n",
    );
    const its = speed({ server: serverAt("http://127.0.0.1:9"), launch: { cacheTypeK: "q8_0" } });
    const now = await its.currentKey(signal);
    expect(now).toMatchObject({ model: "/models/model.gguf", build: "b11669-Debian", flags: "-ctk q8_0" });
    expect(await its.importRuns(file, now && { setup: now, use: true }, signal)).toEqual({
      curves: 1,
      points: 1,
    });
    const { records } = await history.read(signal);
    // what the table tells is its own: its build, and that no KV type was given
    const own = { model: "/models/model.gguf", build: "abc1234 (5000)", flags: "" };
    expect(records[0]).toMatchObject({ dated: "file", curve: { key: own } });
    expect(records[0]?.curve?.key).toMatchObject({ backend: "CPU" });
  });

  it("asks once for a model and what a table does not tell, says what was assumed, and takes it back", async () => {
    const file = path.join(folder, "sweep.md");
    await writeFile(
      file,
      "| PP | TG | N_KV | T_PP s | S_PP t/s |\n|---|---|---|---|---|\n| 512 | 0 | 4096 | 2.0 | 256 |\n",
    );
    const its = speed({ server: serverAt("http://127.0.0.1:9"), launch: { cacheTypeK: "q8_0" } });
    const setup = await its.currentKey(signal);
    if (setup === undefined) throw new Error("no setup");
    const missing = ["model", "build", "options"];
    expect(await its.importQuestion(file, setup, signal)).toEqual({ missing });
    await its.importRuns(file, { setup, use: true }, signal);
    expect(await its.importQuestion(file, setup, signal)).toEqual({ missing, remembered: true });
    // another model is another question
    const other = { ...setup, model: "/models/other.gguf" };
    expect(await its.importQuestion(file, other, signal)).toEqual({ missing });
    const [run] = (await its.runs(signal)).runs;
    expect(run).toMatchObject({ model: setup.model, flags: "-ctk q8_0", assumed: true });
    expect(run?.notes.map((note) => formatText(note)).join()).toContain(
      "model, build, options as in this setup",
    );
    await its.changeAssumption(run?.id ?? "", { setup, use: false }, signal);
    const { runs } = await its.runs(signal);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({ model: "", flags: "", assumed: false });
    expect(await its.importQuestion(file, setup, signal)).toEqual({ missing, remembered: false });
  });

  it("has no key for a setup without a server and a model", async () => {
    expect(await speed({}).currentKey(signal)).toBeUndefined();
  });
});

describe("a server on show", () => {
  const timing = { tokens: 2000, cached: 0, seconds: 2 };

  it("has its requests kept under its own key, and none where no report is on show", async () => {
    await speed({}).learn(timing);
    expect((await history.read(signal)).records).toEqual([]);
    const shown = sampleSituation({ server: serverAt("http://127.0.0.1:9"), launch: { ubatchSize: 256 } });
    // what the server is started with next does not change what was measured on the one on show
    await speed({ launch: { ubatchSize: 64 } }, {}, { shown }).learn(timing);
    expect((await history.read(signal)).records).toMatchObject([
      { kind: "request", key: { ...key, flags: "-ub 256" }, request: timing },
    ]);
  });

  it("is looked at with its key; nobody is looked at without one", async () => {
    expect(await speed({}).serverActivity(true, signal)).toBeUndefined();
    const seen: { path: string; authorization: string | undefined }[] = [];
    const stub = await startHttpStub((request, response) => {
      seen.push({ path: request.path, authorization: request.headers.authorization });
      return goodAnswer()(request, response);
    });
    try {
      const router = sampleSituation({
        server: serverAt(stub.url, { role: "router", model: { id: "a b" } }),
      });
      const activity = await speed({}, {}, { shown: router, apiKey: "sesame" }).serverActivity(false, signal);
      expect(activity?.slots).toMatchObject([{ id: 0, busy: false }]);
      // a router loads a model it is asked about, unless it is told not to
      expect(seen).toEqual([{ path: "/slots?model=a%20b&autoload=false", authorization: "Bearer sesame" }]);
    } finally {
      await stub.close();
    }
  });
});

describe.skipIf(process.platform === "win32")("a comparison", () => {
  const header = headers().get("llama-3.1-8b-q4_k_m.gguf");
  if (header === undefined) throw new Error("no header");
  const model = modelOf(header);
  const report = { plan: () => undefined, progress: () => undefined };

  async function ready(script: string): Promise<readonly [Partial<Situation>, Partial<Settings>]> {
    await writeProgram(folder, "llama-bench", script);
    const file = path.join(folder, "m.gguf");
    await writeFile(file, "");
    return [
      { model: known(model), launch: { model: file, ubatchSize: 256 }, curve: known(curve()) },
      { llamaCppFolder: folder, model: file },
    ];
  }

  it("starts from what is set, with llama.cpp's defaults for the rest", async () => {
    const [situation, settings] = await ready("exit 1");
    // common/common.h: f16, n_ubatch 512, n_batch 2048
    expect(await speed(situation, settings).comparisonSetup(signal)).toEqual({
      model: "m.gguf",
      values: {
        cacheTypeK: "f16",
        cacheTypeV: "f16",
        flashAttn: "on",
        ubatchSize: "256",
        batchSize: "2048",
        threads: "",
      },
    });
  });

  it("is priced from a measured curve without starting anything", async () => {
    const [situation, settings] = await ready(`touch ${path.join(folder, "started")}`);
    const prices = await speed(situation, settings).comparisonPrices(1, signal);
    const seen = feasibilityOf(curve());
    // every depth up to the model's window
    const depths = comparisonDepths(model.contextLength);
    expect(depths.at(-1)).toBe(131_072 - 1024);
    expect(prices).toEqual(seen && depths.map((depth) => planComparison(seen, [depth])));
    // three runs of the prompt and of what lies before it, at 1000 tokens a second
    expect(prices[0]).toMatchObject({ depths: [4096] });
    expect(prices[0]?.seconds).toBeGreaterThan(3 * 4.096);
    await expect(readFile(path.join(folder, "started"))).rejects.toThrow(/ENOENT/);
  });

  it.each([
    ["there is no llama-bench", {}, { llamaCppFolder: "/nowhere" }, true, "notFound"],
    ["the workspace is not trusted", {}, {}, false, "untrusted"],
    [
      "no model is known",
      { model: sampleSituation().model, launch: {} },
      { model: "" },
      true,
      "invalidInput",
    ],
    ["its file is not on this machine", { launch: {} }, { model: "/nowhere/m.gguf" }, true, "invalidInput"],
  ] as const)("is refused where %s", async (_, situation, settings, trusted, reason) => {
    const [all, set] = await ready("exit 0");
    const its = speed({ ...all, ...situation }, { ...set, ...settings }, { trusted });
    await expect(its.comparisonSetup(signal)).rejects.toMatchObject({ reason });
    await expect(its.comparisonPrices(1, signal)).rejects.toMatchObject({ reason });
    await expect(
      its.compare(
        { baseline: { ubatchSize: "512" }, others: [{ ubatchSize: "256" }], depths: [0] },
        report,
        signal,
      ),
    ).rejects.toMatchObject({ reason });
    expect((await history.read(signal)).records).toEqual([]);
  });

  it("that fails throws llama-bench's error, and stays in the history", async () => {
    const [situation, settings] = await ready("echo 'error: failed to load model' >&2; exit 1");
    const choice = { baseline: { ubatchSize: "512" }, others: [{ ubatchSize: "256" }], depths: [0] };
    await expect(speed(situation, settings).compare(choice, report, signal)).rejects.toThrow(/llama-bench/);
    expect((await history.read(signal)).records).toMatchObject([
      { kind: "comparison", ended: "failed", comparison: { option: "-ub", values: ["512", "256"] } },
    ]);
    expect(warnings).toEqual([]);
  }, 20_000);

  it("of an option that changes answers says in the log why they were not compared", async () => {
    const [situation, settings] = await ready("exit 1");
    const choice = { baseline: { cacheTypeK: "f16" }, others: [{ cacheTypeK: "q8_0" }], depths: [0] };
    await expect(speed(situation, settings).compare(choice, report, signal)).rejects.toThrow(/llama-bench/);
    expect(warnings).toEqual([
      expect.stringMatching(/answers were not compared: llama-server was not found/),
    ]);
  }, 20_000);
});

it("asks a server that sends nonsense nothing more", async () => {
  const stub = await startHttpStub((_, response) => sendJson(response, { error: { code: 501 } }, 501));
  try {
    const shown = sampleSituation({ server: serverAt(stub.url) });
    const activity = await speed({}, {}, { shown }).serverActivity(true, signal);
    expect(activity?.slots).toBeUndefined();
  } finally {
    await stub.close();
  }
});
