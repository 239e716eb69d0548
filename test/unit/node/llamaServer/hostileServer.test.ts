import { appendFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runServerProbe } from "../../../../src/app/measuring/serverProbe";
import { say } from "../../../../src/core/text";
import { UserError } from "../../../../src/core/userError";
import { readGgufHeader } from "../../../../src/node/gguf/ggufModelSource";
import { AnswerFailed, LadderServer } from "../../../../src/node/ladder/ladderServer";
import { HttpLlamaServer } from "../../../../src/node/llamaServer/llamaServer";
import { llamaSwapUpstream } from "../../../../src/node/llamaServer/llamaSwapUpstream";
import { offeredModels } from "../../../../src/node/llamaServer/offeredModels";
import { readServerActivity } from "../../../../src/node/llamaServer/serverActivity";
import { discoverServer } from "../../../../src/node/llamaServer/serverDiscovery";
import { LlamaServerConnection } from "../../../../src/node/llamaServer/llamaServerConnection";
import { streamCompletion } from "../../../../src/node/llamaServer/serverProbeStream";
import { waitUntilReady } from "../../../../src/node/llamaServer/serverStart";
import type { Monitor } from "../../../../src/node/monitor/monitor";
import { ggufHeaderBytes } from "../../../support/forge/writeGguf";
import { startModeServer, type Mode, type ModeServer } from "../../../support/hostile/exchange";
import { rangeModes, shapeModes, streamModes } from "../../../support/hostile/shapeModes";
import { statusModes, transportModes } from "../../../support/hostile/transportModes";

/**
 * Everything the product asks of a server, against everything a server can do: each question ends with a value or an error
 * for the user. The product's time limits pass 50 times faster here; LLAMA_GAUGE_HOSTILE_HURRY=1 leaves them as they
 * are, and LLAMA_GAUGE_HOSTILE=FILE gets every outcome.
 */

const record = process.env["LLAMA_GAUGE_HOSTILE"];
const hurry = Number(process.env["LLAMA_GAUGE_HOSTILE_HURRY"] ?? 50);
const never = new AbortController().signal;
const everything = [...transportModes, ...statusModes, ...shapeModes];
const modes = new Map<string, Mode>([...everything, ...streamModes, ...rangeModes]);

const file = ggufHeaderBytes({
  metadata: new Map([["general.architecture", { type: "string", value: "llama" }]] as const),
  tensors: [{ name: "a", type: "f16", shape: [64, 64], fill: { constant: 1 } }],
});

const quiet: Monitor = {
  measure: () => undefined,
  baseline: () => Promise.resolve(),
  freeMemoryBytes: undefined,
  stop: () => Promise.resolve({ verdict: "unmonitored", events: [], samples: 0 }),
};

interface Question {
  readonly name: string;
  /** The endpoints that are spoilt, each by itself. */
  readonly endpoints: readonly string[];
  readonly modes: readonly (readonly [string, Mode])[];
  /** Seconds after which it has to be over. */
  readonly limit: number;
  ask(url: string): Promise<unknown>;
}

const texts = ["one two", "three four five"];
const server = (url: string): HttpLlamaServer => new HttpLlamaServer({ url });
const facts = {
  url: "",
  role: "single",
  model: { id: "m" },
  nCtxPerSlot: 1,
  totalSlots: 1,
  sleeping: false,
  hasVision: false,
} as const;
const tokenizer = (url: string) => server(url).tokenizer(facts);
const answerOf = (url: string) =>
  new LadderServer({ url }).answer(
    {
      prompt: [1, 2, 3],
      answerTokens: 5,
      useCache: false,
      seed: 1,
      timeoutSeconds: 10,
      logProbabilities: true,
    },
    never,
  );
const streams = [...everything, ...streamModes];

const questions: readonly Question[] = [
  {
    name: "facts",
    endpoints: ["/props", "/slots", "/v1/models"],
    modes: everything,
    limit: 20,
    ask: (url) => server(url).facts(never),
  },
  {
    name: "discovery",
    endpoints: ["all"],
    modes: everything,
    limit: 30,
    ask: (url) => discoverServer({ configured: url }, never),
  },
  {
    name: "models",
    endpoints: ["/v1/models", "/running"],
    modes: everything,
    limit: 20,
    ask: (url) => offeredModels({ url }, never),
  },
  {
    name: "llama-swap",
    endpoints: ["/running"],
    modes: everything,
    limit: 10,
    ask: (url) => llamaSwapUpstream({ url }, never),
  },
  {
    name: "template",
    endpoints: ["/apply-template"],
    modes: everything,
    limit: 20,
    ask: (url) => server(url).applyTemplate("hello", never),
  },
  {
    name: "count",
    endpoints: ["/tokenize"],
    modes: everything,
    limit: 70,
    ask: (url) => tokenizer(url).count(texts, never),
  },
  {
    name: "count prompt",
    endpoints: ["/tokenize"],
    modes: everything,
    limit: 40,
    ask: (url) => tokenizer(url).countPrompt("one two", never),
  },
  {
    name: "activity",
    endpoints: ["/slots", "/metrics"],
    modes: everything,
    limit: 50,
    ask: (url) => readServerActivity({ url, counters: true }, never),
  },
  {
    name: "ladder tokens",
    endpoints: ["/tokenize"],
    modes: everything,
    limit: 70,
    ask: (url) => new LadderServer({ url }).tokenize("one two", { bos: true, special: true }, never),
  },
  {
    name: "ladder template",
    endpoints: ["/apply-template"],
    modes: everything,
    limit: 40,
    ask: (url) => new LadderServer({ url }).frame("off", never),
  },
  { name: "ladder answer", endpoints: ["/completion"], modes: streams, limit: 20, ask: answerOf },
  {
    name: "stream",
    endpoints: ["/completion"],
    modes: streams,
    limit: 20,
    ask: (url) =>
      streamCompletion(
        new LlamaServerConnection(url),
        { prompt: [1, 2, 3], generatedTokens: 5, timeoutSeconds: 10 },
        never,
      ),
  },
  {
    name: "probe",
    endpoints: ["/tokenize", "/completion"],
    modes: streams,
    limit: 60,
    ask: (url) => runServerProbe({ url, budgetSeconds: 10, monitor: quiet }, never),
  },
  { name: "starting", endpoints: ["all"], modes: everything, limit: 60, ask: (url) => within(url) },
  {
    name: "header",
    endpoints: ["/model.gguf"],
    modes: [...everything, ...rangeModes],
    limit: 60,
    ask: (url) => readGgufHeader(`${url}/model.gguf`, never),
  },
];

/** Waiting for a server goes on until somebody ends it. */
async function within(url: string): Promise<unknown> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new UserError("timeout", say`ended`, say``)), 10_000);
  return waitUntilReady(url, undefined, stop.signal).finally(() => clearTimeout(timer));
}

const realTimeout = globalThis.setTimeout;
let hostile: ModeServer;
beforeAll(async () => {
  hostile = await startModeServer(modes, file);
  const hurried = (
    callback: (...args: unknown[]) => void,
    milliseconds = 0,
    ...args: unknown[]
  ): NodeJS.Timeout => realTimeout(callback, milliseconds / hurry, ...args);
  globalThis.setTimeout = Object.assign(hurried, realTimeout);
});
afterAll(async () => {
  globalThis.setTimeout = realTimeout;
  await hostile.close();
});

interface Outcome {
  readonly mode: string;
  readonly kind: "value" | "error" | "hang" | "crash";
  readonly detail: string;
  readonly seconds: number;
}

async function outcomeOf(question: Question, endpoint: string, mode: string): Promise<Outcome> {
  const url = hostile.url(mode, endpoint);
  const began = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Pick<Outcome, "kind" | "detail">>((resolve) => {
    // on a busy machine a hurried limit is not kept to the millisecond; what hangs hangs for ever
    timer = realTimeout(
      () => resolve({ kind: "hang", detail: "" }),
      hurry === 1 ? (question.limit + 1) * 1000 : 15_000,
    );
  });
  const ended = question.ask(url).then(
    (value) => ({ kind: "value", detail: shortened(value) }) as const,
    (error: unknown) =>
      error instanceof UserError || error instanceof AnswerFailed
        ? ({ kind: "error", detail: error.message } as const)
        : ({ kind: "crash", detail: String(error instanceof Error ? error.stack : error) } as const),
  );
  const { kind, detail } = await Promise.race([ended, late]);
  clearTimeout(timer);
  const seconds = (performance.now() - began) / 1000;
  if (record !== undefined) {
    await appendFile(
      record,
      `${[question.name, endpoint, mode, kind, seconds.toFixed(2), detail.slice(0, 200).replaceAll(/\s+/g, " ")].join("\t")}\n`,
    );
  }
  return { mode, kind, detail, seconds };
}

function shortened(value: unknown): string {
  try {
    return JSON.stringify(value).slice(0, 200);
  } catch {
    return String(value);
  }
}

const atOnce = 32;

async function all(question: Question): Promise<readonly Outcome[]> {
  const tasks = question.endpoints.flatMap((endpoint) =>
    question.modes.map(([mode]) => ({ endpoint, mode })),
  );
  const outcomes: Outcome[] = [];
  const work = async (): Promise<void> => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) {
      outcomes.push(await outcomeOf(question, task.endpoint, task.mode));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes;
}

describe("whatever a server does", () => {
  it("is one of at least 109 modes, each with a name of its own", () => {
    expect(modes.size).toBeGreaterThanOrEqual(109);
    expect(modes.size).toBe(everything.length + streamModes.length + rangeModes.length);
  });

  for (const question of questions) {
    it(
      `${question.name} ends, as a value or an error for the user`,
      async () => {
        const outcomes = await all(question);
        expect(outcomes.filter(({ kind }) => kind === "hang" || kind === "crash")).toEqual([]);
      },
      hurry === 50 ? 120_000 : 3_600_000,
    );
  }

  it("takes no more of it than it needs", () => expect(hostile.mostSentBytes).toBeLessThan(48 * 2 ** 20));
});
