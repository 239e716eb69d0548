import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AttachedServer } from "../../../src/app/host";
import { HistoryStore } from "../../../src/app/historyStore";
import { Ladders, runLadderAndRemember } from "../../../src/app/ladders";
import { known } from "../../../src/core/known";
import type { LadderProgress, ShownLadder } from "../../../src/core/ladder/report/shownLadder";
import type { Situation } from "../../../src/core/report/situation";
import { parsePlan } from "../../../src/core/ladder/plan/parsePlan";
import { recallAll, startAnsweringServer } from "../../support/recallingServer";
import { sampleSituation, serverAt } from "../../support/sampleSituation";
import { goodReplies, sendJson, type StubServer } from "../../support/stubServer";

const { signal } = new AbortController();
const planText = `
rungs: [1600]
baseTokens: 1200
repetitions: 1
canaries: { target: 4, other: 4 }
constraints: false
answerTokens: 64
criteria: { perRun: 4, pooled: 4 }
`;
let folder: string;
let stub: StubServer;
let situation: Situation;
let authorizations: (string | undefined)[];
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "ladders-"));
  authorizations = [];
  stub = await startAnsweringServer((prompt) => ({ text: recallAll(prompt) }), {
    "/props": (request, response) => {
      authorizations.push(request.headers.authorization);
      sendJson(response, goodReplies["/props"]);
    },
  });
  situation = sampleSituation({ server: serverAt(stub.url), launch: { cacheTypeK: "q8_0" } });
});
afterEach(async () => {
  await stub.close();
  await rm(folder, { recursive: true, force: true });
});

const ladders = (attached?: AttachedServer): Ladders =>
  new Ladders({
    cacheFolder: folder,
    version: "1.2.3",
    apiKey: () => Promise.resolve("stored"),
    attachedServer: () => attached,
    situation: () => Promise.resolve(situation),
  });

const wanted = { kind: "new", text: planText, label: "w.ladder.yaml", planFolder: os.tmpdir() } as const;
const unwatched = { onCost: () => Promise.resolve(), onChange: () => undefined };

async function lines(): Promise<Awaited<ReturnType<HistoryStore["read"]>>["records"]> {
  return (await new HistoryStore(folder).read(signal)).records;
}

/** Forgets what was stored behind the first run, as a kill would. */
async function cutAfterFirstRun(recordFolder: string): Promise<void> {
  const file = path.join(recordFolder, "ladder.jsonl");
  const [header = "", first = ""] = (await readFile(file, "utf8")).split("\n");
  await writeFile(file, `${header}\n${first}\n`);
}

describe("a ladder of the editor", () => {
  it("is stored, shown, found by its plan, and kept as a line of the history under its setup", async () => {
    const seen: [LadderProgress, ShownLadder | undefined][] = [];
    const its = ladders();
    const shown = await its.run(
      wanted,
      {
        onCost: (_cost, left) => {
          expect(left).toBe(3);
          return Promise.resolve();
        },
        onChange: (progress, ladder) => seen.push([progress, ladder]),
      },
      signal,
    );
    expect(shown).toMatchObject({ label: "w.ladder.yaml", steps: { done: 3, planned: 3 } });
    expect(shown.report.pass).toBe(true);
    const done = seen.map(([{ steps }]) => steps.done);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(seen.at(-1)?.[1]?.steps.done).toBe(3);
    expect((await its.kept(signal)).map(({ id }) => id)).toEqual([shown.id]);
    expect((await its.samePlan(`# the same\n${planText}`, signal))?.id).toBe(shown.id);
    expect(await its.samePlan(planText.replace("1600", "1700"), signal)).toBeUndefined();
    expect(await lines()).toMatchObject([
      { id: shown.id, kind: "ladder", tool: "Llama Gauge 1.2.3", ended: "passed", label: "w.ladder.yaml" },
    ]);
    expect(authorizations.every((value) => value === "Bearer stored")).toBe(true);
    expect(await its.report(shown.id, "markdown", undefined, signal)).toContain("1,600 tokens passed");
    expect(await its.compare(shown.id, shown.id, signal)).toContain("nothing changed");
  });

  it("resumes behind the last stored run, in the same line of the history", async () => {
    const its = ladders();
    const { id } = await its.run(wanted, unwatched, signal);
    await cutAfterFirstRun(path.join(folder, "ladders", id));
    let left = 0;
    const resumed = await its.run(
      { kind: "resume", id },
      {
        ...unwatched,
        onCost: (_cost, steps) => {
          left = steps;
          return Promise.resolve();
        },
      },
      signal,
    );
    expect(left).toBe(2);
    expect(resumed).toMatchObject({ id, label: "w.ladder.yaml", steps: { done: 3 } });
    expect((await lines()).map((line) => line.id)).toEqual([id]);
  });

  it("asks a server that was started here with the key it was started with", async () => {
    const logFile = path.join(folder, "server.log");
    await ladders({ url: stub.url, apiKey: "own", logFile }).run(wanted, unwatched, signal);
    expect(authorizations.every((value) => value === "Bearer own")).toBe(true);
  });

  it("leaves nothing behind where the user does not want its cost", async () => {
    const its = ladders();
    const follower = { ...unwatched, onCost: () => Promise.reject(new DOMException("no", "AbortError")) };
    await expect(its.run(wanted, follower, signal)).rejects.toMatchObject({ name: "AbortError" });
    expect(await its.kept(signal)).toEqual([]);
    expect(await lines()).toEqual([]);
  });

  it("does not begin without a server, for the reason it is not there", async () => {
    situation = sampleSituation();
    await expect(ladders().run(wanted, unwatched, signal)).rejects.toMatchObject({ reason: "refused" });
    await expect(ladders().planText(signal)).rejects.toMatchObject({ reason: "refused" });
  });

  it("tells what is wrong with a plan, with its line", async () => {
    expect(await ladders().checkPlan(planText)).toBeUndefined();
    expect(await ladders().checkPlan("rungs: [1600]\nrungz: 1\n")).toMatchObject({ line: 2 });
  });
});

describe("a ladder of the command line", () => {
  const request = (out: string): Parameters<typeof runLadderAndRemember>[0] => ({
    url: stub.url,
    plan: parsePlan(planText),
    planFolder: folder,
    out,
    tool: "llama-gauge",
    now: Date.now,
    lookSeconds: 0.05,
  });

  it("keeps one line of the history for one record, also where it is resumed", async () => {
    const out = path.join(folder, "out");
    const history = new HistoryStore(folder);
    await runLadderAndRemember(request(out), { situation, history }, signal);
    await cutAfterFirstRun(out);
    await runLadderAndRemember(request(out), { situation, history }, signal);
    expect(await lines()).toMatchObject([
      { kind: "ladder", tool: "llama-gauge", ended: "passed", effective: { model: "/models/model.gguf" } },
    ]);
  });

  it("tells its cost from what was measured of the setup, unless a curve is named", async () => {
    const key = { model: "/models/model.gguf", build: "", flags: "" };
    const at = (seconds: number) => ({
      key,
      points: [0, 512, 1024].map((depth) => ({ depth, tokens: 512, seconds })),
      generation: [{ depth: 0, tokensPerSecond: 10 }],
    });
    const costs: (number | undefined)[] = [];
    const onCost: Parameters<typeof runLadderAndRemember>[0]["onCost"] = ({ seconds }) => {
      costs.push(seconds?.likely);
    };
    situation = { ...situation, curve: known(at(1)) };
    const history = new HistoryStore(folder);
    const first = { ...request(path.join(folder, "a")), onCost };
    await runLadderAndRemember(first, { situation, history }, signal);
    const second = { ...request(path.join(folder, "b")), onCost, curve: at(100) };
    await runLadderAndRemember(second, { situation, history }, signal);
    const [remembered = 0, named = 0] = costs;
    expect(remembered).toBeGreaterThan(0);
    expect(named).toBeGreaterThan(10 * remembered);
  });
});
