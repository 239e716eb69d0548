import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { formatText } from "../../src/core/format";
import { planStart, type StartPlan } from "../../src/core/servers/startPlan";
import { startFailure } from "../../src/core/logs/startFailure";
import {
  freeLoopbackPort,
  isTaken,
  logTail,
  newLogFile,
  untilGone,
  waitUntilReady,
} from "../../src/node/llamaServer/serverStart";
import { startProgram, type RunningProgram } from "../support/childProcess";
import { forgedModel } from "../support/forge/forgeModel";
import { isFree } from "../support/freePort";
import { isRunning } from "../support/isRunning";
import { llamaProgram } from "../support/llamaCpp";

const signal = new AbortController().signal;
let folder: string;
let running: RunningProgram | undefined;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "lg-start-"));
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
  await rm(folder, { recursive: true, force: true });
});

async function start(...argv: string[]): Promise<StartPlan> {
  const plan = planStart(argv, {
    port: await freeLoopbackPort([]),
    logFile: await newLogFile(path.join(folder, "logs", "server.log")),
    environment: {},
  });
  running = startProgram(await llamaProgram("llama-server"), plan.arguments, {
    env: { ...process.env, ...plan.secrets },
  });
  return plan;
}

async function failureOf(...argv: string[]): Promise<string> {
  const { logFile } = await start(...argv);
  await expect.poll(() => running?.ended(), { timeout: 30_000 }).toBeDefined();
  const code = running?.ended();
  const error = startFailure(
    "llama-server",
    await logTail(logFile),
    typeof code === "number" ? code : undefined,
  );
  return `${formatText(error.problem)} ${formatText(error.remedy)}`;
}

it("waits for a server until it answers, with its key from the environment", async () => {
  const plan = await start("-m", await forgedModel(), "-c", "512", "--api-key", "sesame");
  expect(await waitUntilReady(plan.url, plan.apiKey, signal)).toMatchObject({
    kind: "ready",
    facts: { url: plan.url, nCtxPerSlot: 512 },
  });
  expect(await waitUntilReady(plan.url, undefined, signal)).toMatchObject({
    kind: "answers",
    error: { reason: "unauthorized" },
  });
  expect(await isTaken(plan.url, signal)).toBe(true);
  // another thread of the server writes its log
  await expect.poll(() => logTail(plan.logFile)).toMatch(/server is listening|listening on/);
});

it("says that a router has come up though there is no model to ask", async () => {
  const plan = await start("--models-dir", folder);
  expect(await waitUntilReady(plan.url, undefined, signal)).toMatchObject({ kind: "answers" });
});

it("gives up waiting when it is told to", async () => {
  const stop = new AbortController();
  const waiting = waitUntilReady(`http://127.0.0.1:${await freeLoopbackPort([])}`, undefined, stop.signal);
  setImmediate(() => stop.abort(new Error("enough")));
  await expect(waiting).rejects.toThrow("enough");
});

it("knows when a server's process is gone, and that the port is free then", async () => {
  const plan = await start("-m", await forgedModel(), "-c", "512");
  await waitUntilReady(plan.url, undefined, signal);
  const pid = running?.pid ?? -1;
  let gone = false;
  const waiting = untilGone(pid).then(() => (gone = true));
  await waitUntilReady(plan.url, undefined, signal);
  expect(gone).toBe(false);
  process.kill(pid, "SIGTERM");
  await waiting;
  expect(isRunning(pid)).toBe(false);
  expect(await isTaken(plan.url, signal)).toBe(false);
});

it.each([
  ["a model that is not there", ["-m", "/nowhere/missing.gguf"], /missing\.gguf/],
  ["a quantised V cache without flash attention", ["-ctv", "q8_0", "-fa", "off"], /flash|-fa/i],
])("explains %s from the log", async (_, argv, words) => {
  const model = argv.includes("-m") ? [] : ["-m", await forgedModel()];
  expect(await failureOf(...model, ...argv)).toMatch(words);
});

it("prefers the usual ports while they are free", async () => {
  const port = await freeLoopbackPort([]);
  expect(await isFree(port)).toBe(true);
  expect(await freeLoopbackPort([port])).toBe(port);
});
