import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { formatText } from "../../../src/core/format";
import { ladderReport } from "../../../src/core/ladder/report/ladderReport";
import { parseLadderLine, type LadderRecord } from "../../../src/core/ladder/score/record";
import { parsePlan } from "../../../src/core/ladder/plan/parsePlan";
import { runLadder, type LadderRequest } from "../../../src/app/ladderRun";
import { LadderStore } from "../../../src/node/ladder/ladderStore";
import { recallAll, startAnsweringServer as server } from "../../support/recallingServer";
import { repository } from "../../support/repository";
import { sendJson, type Answer, type StubServer } from "../../support/stubServer";

const signal = new AbortController().signal;
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
let stub: StubServer | undefined;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "ladder-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(async () => {
  await stub?.close();
  stub = undefined;
});

async function run(started: StubServer, more: Partial<LadderRequest> = {}): Promise<LadderRecord> {
  stub = started;
  const plan = parsePlan(planText);
  return runLadder(
    { url: started.url, plan, planFolder: folder, tool: "t", now: Date.now, lookSeconds: 0.05, ...more },
    signal,
  );
}

describe("a ladder", () => {
  it("passes on a server that recalls all", async () => {
    const record = await run(await server((prompt) => ({ text: recallAll(prompt) })));
    expect(ladderReport(record).pass).toBe(true);
  });

  it.each([
    [
      "evaluates fewer tokens than were sent",
      (prompt: string, tokens: number) => ({ text: recallAll(prompt), evaluated: tokens >> 1 }),
      "promptTruncated",
    ],
    [
      "cut its context while it wrote",
      (prompt: string) => ({ text: recallAll(prompt), more: { truncated: true } }),
      "promptTruncated",
    ],
    [
      "thinks for ever",
      () => ({ text: "<think> let me see, cedar", more: { stop_type: "limit" } }),
      "reasoningBudget",
    ],
    ["says nothing", () => ({ text: "" }), "empty"],
    ["never stops", () => ({ text: "and so on and so on", more: { stop_type: "limit" } }), "answerCut"],
  ])("takes a run for invalid, not for wrong, where the server %s", async (_, complete, reason) => {
    const record = await run(await server(complete));
    const report = ladderReport(record);
    // a longer prompt would not be answered better
    expect(record.steps.map(({ invalid }) => invalid)).toEqual([reason]);
    expect(report.pass).toBe(false);
    expect(report.rungs.every(({ recall }) => recall === undefined)).toBe(true);
    expect(report.nextStep.outcome).toBe("invalid");
  });

  it("ends behind the base score of a model that is too weak, also when it is run again", async () => {
    const out = path.join(folder, "weak");
    const weak = (): Promise<StubServer> => server(() => ({ text: "I do not know." }));
    const record = await run(await weak(), { out });
    expect(record.steps.map(({ purpose }) => purpose)).toEqual(["base"]);
    expect(ladderReport(record).nextStep.outcome).toBe("formatOnly");
    await stub?.close();
    expect((await run(await weak(), { out })).steps).toHaveLength(1);
    expect(record.header.conditions).toMatchObject({ backend: expect.any(String) as string });
  });

  it("has lines completed one by one, and takes the text up to the quote for the value", async () => {
    const plan = parsePlan(planText.replace("other: 4", "other: 4, question: line"));
    const record = await run(
      await server((prompt) => {
        const [, key = ""] = /"([a-z]+-[a-z]+-\d\d)": "$/.exec(prompt) ?? [];
        const value = new RegExp(`"${key}": "(\\d{6})"`).exec(prompt)?.[1] ?? "";
        return { text: `${value}" is in force.\nAnd so on`, more: { stop_type: "limit" } };
      }),
      { plan },
    );
    expect(ladderReport(record)).toMatchObject({ pass: true, window: { verifiedTokens: 1600 } });
    expect(record.steps.every(({ sentTokens, tokens }) => sentTokens === tokens)).toBe(true);
  });

  it("asks singly for what the common answer left out, and counts both apart", async () => {
    const record = await run(
      await server((prompt) => {
        const all = JSON.parse(recallAll(prompt)) as Record<string, string>;
        const entries = Object.entries(all);
        return { text: JSON.stringify(Object.fromEntries(entries.slice(entries.length > 1 ? 1 : 0))) };
      }),
    );
    const asked = record.steps.flatMap(({ canaries }) => canaries ?? []).filter((c) => c.asked === "singly");
    expect(asked).toHaveLength(3);
    expect(asked.every(({ outcome }) => outcome === "correct")).toBe(true);
  });

  it("gives a rung its time once, however many answers it asks for", async () => {
    let clock = 0;
    const answers = await server((prompt) => {
      // the common answer takes all of the rung's time and leaves entries out, which would be asked for one by one
      clock += 3_601_000;
      const entries = Object.entries(JSON.parse(recallAll(prompt)) as Record<string, string>);
      return { text: JSON.stringify(Object.fromEntries(entries.slice(1))) };
    });
    const record = await run(answers, { now: () => clock });
    expect(record.steps).toHaveLength(1);
    expect(record.steps[0]?.failure?.kind).toBe("timeLimit");
    expect(clock).toBe(3_601_000);
  });

  it.each([
    ["hangs up", "hangUp" as const, "serverError"],
    [
      "runs out of memory",
      {
        status: 500,
        body: { error: { code: 500, type: "server_error", message: "cudaMalloc failed: out of memory" } },
      },
      "outOfMemory",
    ],
    [
      "refuses the prompt",
      {
        status: 400,
        body: {
          error: { code: 400, type: "exceed_context_size_error", message: "request (1600 tokens) exceeds" },
        },
      },
      "contextTooSmall",
    ],
    [
      "has no cells left",
      {
        status: 500,
        body: { error: { code: 500, type: "server_error", message: "Context size has been exceeded." } },
      },
      "contextTooSmall",
    ],
  ])("stops at the rung at which the server %s", async (_, failure, kind) => {
    const record = await run(
      await server((prompt, tokens) => (tokens < 1600 ? { text: recallAll(prompt) } : failure)),
      { out: path.join(folder, kind + String(Math.random())) },
    );
    expect(record.steps).toHaveLength(2);
    expect(record.steps.at(-1)?.failure?.kind).toBe(kind);
    expect(ladderReport(record)).toMatchObject({ pass: false, complete: false });
  });

  it.each([
    [
      "has no /tokenize",
      {
        "/tokenize": (_: unknown, response: Parameters<Answer>[1]) =>
          sendJson(
            response,
            { error: { code: 404, message: "File Not Found", type: "not_found_error" } },
            404,
          ),
      },
      /no working \/tokenize/,
    ],
    [
      "has a template that rejects the prompt",
      {
        "/apply-template": (_: unknown, response: Parameters<Answer>[1]) =>
          sendJson(
            response,
            { error: { code: 500, message: "Conversation roles must alternate", type: "server_error" } },
            500,
          ),
      },
      /template rejects .*Conversation roles must alternate/,
    ],
    [
      "has a template that loses the message",
      {
        "/apply-template": (_: unknown, response: Parameters<Answer>[1]) =>
          sendJson(response, { prompt: "<a>" }),
      },
      /does not appear in the prompt/,
    ],
    [
      "is asleep",
      {
        "/props": (_: unknown, response: Parameters<Answer>[1]) =>
          sendJson(response, {
            default_generation_settings: { params: {}, n_ctx: 4096 },
            total_slots: 1,
            is_sleeping: true,
          }),
      },
      /asleep/,
    ],
  ])("does not begin where the server %s", async (_, replaced, message) => {
    const out = path.join(folder, "never");
    const started = await server((prompt) => ({ text: recallAll(prompt) }), replaced);
    await expect(run(started, { out })).rejects.toThrow(message);
    expect(existsSync(path.join(out, "ladder.jsonl"))).toBe(false);
  });
});

describe("the record", () => {
  const all = (): Promise<StubServer> => server((prompt) => ({ text: recallAll(prompt) }));

  it("is begun with plan and criteria, goes on behind a torn line, and refuses another server", async () => {
    const out = path.join(folder, "torn");
    await run(await all(), { out });
    await stub?.close();
    const file = path.join(out, "ladder.jsonl");
    const lines = (await readFile(file, "utf8")).trim().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ kind: "ladder", plan: { rungs: [1600] } });
    await writeFile(file, `${lines.slice(0, 2).join("\n")}\n${(lines[2] ?? "").slice(0, 40)}`);
    const record = await run(await all(), { out });
    expect(record.steps).toHaveLength(3);
    expect(ladderReport(record).pass).toBe(true);
    const stored = await new LadderStore(out).read(signal);
    expect(stored).toMatchObject({ unreadable: 1 });
    expect(stored?.steps).toHaveLength(3);
    await stub?.close();

    const other = await server((prompt) => ({ text: recallAll(prompt) }), {
      "/props": (_, response) =>
        sendJson(response, {
          default_generation_settings: { params: {}, n_ctx: 8192 },
          total_slots: 1,
          model_path: "/models/model.gguf",
          build_info: "b1-x",
        }),
    });
    await expect(run(other, { out })).rejects.toThrow(/not the one .*build, nCtxPerSlot changed/);
  });

  it("ends before a rung is stored that another model or other options have answered", async () => {
    const out = path.join(folder, "swapped");
    let answered = 0;
    const swapped = await server(
      (prompt) => {
        answered++;
        return { text: recallAll(prompt) };
      },
      {
        "/props": (_, response) =>
          sendJson(response, {
            default_generation_settings: { params: {}, n_ctx: 4096 },
            total_slots: 1,
            model_path: answered < 2 ? "/models/model.gguf" : "/models/other.gguf",
            build_info: "b1-x",
          }),
      },
    );
    await expect(run(swapped, { out })).rejects.toThrow(
      /not the one this ladder was started with: model changed/,
    );
    expect((await new LadderStore(out).read(signal))?.steps).toHaveLength(1);
  });

  it("goes on with the same filler only", async () => {
    const text = path.join(folder, "text");
    const out = path.join(folder, "refilled");
    await mkdir(text);
    const file = path.join(text, "a.md");
    await writeFile(file, "Some plain words of a note, again and again.\n".repeat(400));
    const plan = parsePlan(`${planText}filler: { folder: ./text }\n`);
    await run(await all(), { out, plan });
    await stub?.close();
    const record = path.join(out, "ladder.jsonl");
    const lines = (await readFile(record, "utf8")).trim().split("\n");
    await writeFile(record, `${lines.slice(0, 2).join("\n")}\n`);
    await writeFile(file, "Other plain words of a note, again and again.\n".repeat(400));
    await expect(run(await all(), { out, plan })).rejects.toThrow(/filler text is not the one/);
  });

  it.runIf(existsSync("/dev/full"))("says so when the disk is full", async () => {
    const out = path.join(folder, "full");
    await mkdir(out);
    await symlink("/dev/full", path.join(out, "ladder.jsonl"));
    const [line = ""] = readFileSync(
      path.join(repository, "test/fixtures/ladder/window.jsonl"),
      "utf8",
    ).split("\n");
    const header = parseLadderLine(line);
    if (header === undefined) throw new Error("the fixture begins with no record");
    await expect(new LadderStore(out).append(header)).rejects.toThrow(/no disk space to store the ladder/);
    await expect(run(await all(), { out })).rejects.toThrow(/cannot be read/);
  });

  it("leaves secrets and binaries out of a folder's text, and says when that is too little", async () => {
    const docs = path.join(folder, "docs");
    await mkdir(docs, { recursive: true });
    await writeFile(path.join(docs, ".env"), "TOKEN=abc\n".repeat(1000));
    await writeFile(path.join(docs, "key.txt"), `-----BEGIN RSA PRIVATE KEY-----\n${"x\n".repeat(5000)}`);
    await writeFile(path.join(docs, "image.bin"), Buffer.alloc(50_000));
    const plan = parsePlan(`${planText}filler: { folder: docs }\n`);
    await expect(run(await all(), { plan })).rejects.toThrow(/has no text: 3 files/);
    await stub?.close();
    await writeFile(path.join(docs, "notes.md"), "Plain words of a small file.\n".repeat(20));
    await expect(run(await all(), { plan })).rejects.toThrow(/docs is too small/);
    await stub?.close();
    const lines = Array.from(
      { length: 400 },
      (_, i) => `Line ${i} says what the line before it did not say.\n`,
    );
    await writeFile(path.join(docs, "notes.md"), lines.join(""));
    const record = await run(await all(), { plan });
    expect(ladderReport(record).pass).toBe(true);
    expect(record.warnings.map((warning) => formatText(warning))[0]).toMatch(/^3 files were excluded/);
  });
});
